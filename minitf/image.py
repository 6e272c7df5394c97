"""tf.image. Its functions are loaded when one of them is first used."""

from __future__ import annotations

from minitf.lazily import lazily as _lazily

_HOMES = {
    "minitf.ops.blocks": "extract_image_patches",
    "minitf.ops.image.codecs": """
        adjust_jpeg_quality decode_and_crop_jpeg decode_bmp decode_gif decode_image decode_jpeg
        decode_png encode_jpeg encode_png extract_jpeg_shape is_jpeg random_jpeg_quality""",
    "minitf.ops.image.colours": """
        adjust_brightness adjust_contrast adjust_gamma adjust_hue adjust_saturation
        convert_image_dtype grayscale_to_rgb hsv_to_rgb per_image_standardization
        random_brightness random_contrast random_hue random_saturation rgb_to_grayscale rgb_to_hsv
        rgb_to_yiq rgb_to_yuv yiq_to_rgb yuv_to_rgb""",
    "minitf.ops.image.crops": """
        central_crop crop_to_bounding_box pad_to_bounding_box resize_image_with_crop_or_pad
        resize_with_crop_or_pad=resize_image_with_crop_or_pad""",
    "minitf.ops.image.flips": """
        flip_left_right flip_up_down random_flip_left_right random_flip_up_down rot90 transpose
        transpose_image=transpose""",
    "minitf.ops.image.quality": """
        image_gradients psnr sobel_edges ssim ssim_multiscale total_variation""",
    "minitf.ops.image.regions": """
        combined_non_max_suppression crop_and_resize draw_bounding_boxes extract_glimpse
        non_max_suppression non_max_suppression_overlaps non_max_suppression_padded
        non_max_suppression_with_scores sample_distorted_bounding_box""",
    "minitf.ops.image.resizing": """
        ResizeMethod resize=resize_images resize_area resize_bicubic resize_bilinear
        resize_image_with_pad resize_images resize_nearest_neighbor""",
    "minitf.ops.random": "random_crop",
}
__getattr__, __dir__ = _lazily(globals(), _HOMES)
