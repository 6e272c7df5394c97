"""What tf.image adds to a graph. With a real TensorFlow 1.15:

PYTHONPATH=../.. TF=tensorflow python record.py > graphs.json.gz
"""

from recording import main, outcome


def images(tf):
    """Pictures whose shape is known, known in part, and not known."""
    for dtype, shape in (
        (tf.uint8, [6, 5, 3]),
        (tf.float32, [2, 6, 5, 3]),
        (tf.float32, [None, None, 3]),
        (tf.uint8, [None, None, None, 3]),
        (tf.float32, None),
    ):
        yield tf.placeholder(dtype, shape)


def told(t):
    return "%s %s %s" % (t.name, t.shape, t.dtype.name)


def each(tf, call):
    for image in images(tf):
        yield outcome(lambda image=image: told(call(image)))


def flips(tf):
    for name in ("flip_left_right", "flip_up_down", "transpose_image", "rot90"):
        yield from each(tf, getattr(tf.image, name))
    for name in ("random_flip_left_right", "random_flip_up_down"):
        yield from each(tf, lambda x, name=name: getattr(tf.image, name)(x, seed=3))
    x = tf.placeholder(tf.float32, [4, 4, 1])
    yield told(tf.image.rot90(x, tf.placeholder(tf.int32, []), name="turned"))
    yield told(tf.image.transpose_image(x, name="swapped"))
    yield outcome(lambda: tf.image.flip_up_down(tf.zeros([2, 3])))
    yield outcome(lambda: tf.image.flip_up_down(tf.zeros([2, 0, 3])))


def boxes(tf):
    image = tf.image
    yield from each(tf, lambda x: image.central_crop(x, 0.5))
    yield from each(tf, lambda x: image.pad_to_bounding_box(x, 1, 2, 9, 8))
    yield from each(tf, lambda x: image.crop_to_bounding_box(x, 1, 2, 3, 2))
    yield from each(tf, lambda x: image.resize_image_with_crop_or_pad(x, 4, 8))
    n = tf.placeholder(tf.int32, [])
    x = tf.placeholder(tf.float32, [6, 5, 3])
    yield told(image.pad_to_bounding_box(x, n, 0, n, 8))
    yield told(image.crop_to_bounding_box(x, n, 0, n, 3))
    yield told(image.resize_image_with_crop_or_pad(x, n, 3))
    yield outcome(lambda: image.central_crop(x, 0.0))
    yield outcome(lambda: image.pad_to_bounding_box(x, -1, 0, 8, 8))
    yield outcome(lambda: image.pad_to_bounding_box(x, 0, 0, 5, 8))
    yield outcome(lambda: image.crop_to_bounding_box(x, 0, 3, 3, 3))
    yield outcome(lambda: image.resize_image_with_crop_or_pad(x, 0, 3))
    yield told(tf.random_crop(x, [3, 3, 3], seed=1))


def colours(tf):
    image = tf.image
    for call in (
        image.per_image_standardization,
        lambda x: image.adjust_brightness(x, 0.2),
        lambda x: image.adjust_contrast(x, 1.5),
        lambda x: image.adjust_gamma(x, 0.5, 2),
        lambda x: image.adjust_hue(x, 0.1),
        lambda x: image.adjust_saturation(x, 0.3, name="sat"),
        lambda x: image.random_brightness(x, 0.2, seed=1),
        lambda x: image.random_contrast(x, 0.2, 1.2, seed=1),
        lambda x: image.random_hue(x, 0.2, seed=1),
        lambda x: image.random_saturation(x, 0.2, 1.2, seed=1),
        image.rgb_to_grayscale,
        lambda x: image.rgb_to_hsv(tf.cast(x, tf.float32)),
        lambda x: image.hsv_to_rgb(tf.cast(x, tf.float32)),
        lambda x: image.rgb_to_yiq(tf.cast(x, tf.float32)),
        lambda x: image.yuv_to_rgb(tf.cast(x, tf.float32)),
    ):
        yield from each(tf, call)
    for shape in ([4, 4, 1], [None, None, 1], None, [4, 4, 2]):
        gray = tf.placeholder(tf.uint8, shape)
        yield outcome(lambda gray=gray: told(image.grayscale_to_rgb(gray)))
    for call in ("random_brightness", "random_hue"):
        yield outcome(lambda call=call: getattr(image, call)(None, -1.0))
    yield outcome(lambda: image.random_hue(None, 1.0))
    yield outcome(lambda: image.random_contrast(None, 1.0, 0.5))
    yield outcome(lambda: image.random_saturation(None, -1.0, 0.5))
    yield outcome(lambda: image.adjust_gamma(tf.zeros([2, 2, 3]), -1))
    yield told(image.adjust_gamma(tf.zeros([2, 2, 3]), tf.constant(2.0)))
    yield told(image.rgb_to_yuv(tf.zeros([3])))
    yield told(image.yiq_to_rgb(tf.zeros([2, 3])))


def types(tf):
    kinds = (tf.uint8, tf.int16, tf.int32, tf.float16, tf.float32, tf.float64)
    convert = tf.image.convert_image_dtype
    for a in kinds:
        x = tf.placeholder(a, [2, 2, 3])
        for b in kinds:
            for saturate in (False, True):
                yield outcome(lambda x=x, b=b, s=saturate: told(convert(x, b, s, "to")))
    yield outcome(lambda: convert(x, tf.bool))


def qualities(tf):
    image = tf.image
    for shape in ([2, 20, 20, 3], [None, None, None, 1], [20, 20, 3]):
        for dtype in (tf.float32, tf.uint8):
            a, b = tf.placeholder(dtype, shape), tf.placeholder(dtype, shape)
            yield told(image.psnr(a, b, 255))
            yield told(image.ssim(a, b, 1.0))
            if dtype == tf.float32:
                yield outcome(lambda a=a: told(image.total_variation(a)))
                yield outcome(lambda a=a: str([told(t) for t in image.image_gradients(a)])[:80])
                yield outcome(lambda a=a: told(image.sobel_edges(a)))
    yield told(image.ssim_multiscale(a, b, 255, filter_size=3, power_factors=(0.5, 0.5)))
    yield told(image.ssim(a, b, 255, 7, 1.1, 0.02, 0.04))
    yield outcome(lambda: image.psnr(tf.zeros([2, 2]), tf.zeros([2, 2]), 1))
    yield outcome(lambda: image.psnr(tf.zeros([2, 2, 1]), tf.zeros([2, 2, 3]), 1))


def sizes(tf):
    image = tf.image
    for method in (0, 1, 2, 3, "bilinear", "area"):
        yield from each(tf, lambda x, method=method: image.resize_images(x, [3, 4], method))
    x = tf.placeholder(tf.float32, [2, 6, 5, 3])
    size = tf.placeholder(tf.int32, [2])
    yield told(image.resize_images(x, [6, 5]))
    yield told(image.resize_images(x, size, align_corners=True, name="sized"))
    yield told(image.resize_images(x, [3, 4], preserve_aspect_ratio=True))
    yield told(image.resize_bilinear(x, [3, 4], name="b", half_pixel_centers=True))
    yield told(image.resize_nearest_neighbor(x, [3, 4], align_corners=True))
    yield told(image.resize_bicubic(x, size))
    yield told(image.resize_area(x, [3, 4], name="a"))
    yield from each(tf, lambda x: image.resize_image_with_pad(x, 7, 9))
    yield outcome(lambda: image.resize_images(x, [1, 2, 3]))
    yield outcome(lambda: image.resize_images(x, [1.5, 2]))
    yield outcome(lambda: image.resize_images(x, [3, 4], 9))
    yield outcome(lambda: image.resize_images(tf.zeros([3]), [3, 4]))
    yield outcome(lambda: image.resize_images(x, [-3, 4]))


def regions(tf):
    image = tf.image
    x = tf.placeholder(tf.float32, [2, 6, 5, 3])
    boxes, scores = tf.placeholder(tf.float32, [7, 4]), tf.placeholder(tf.float32, [7])
    yield told(image.crop_and_resize(x, boxes, tf.zeros([7], tf.int32), [4, 4], name="crop"))
    yield told(image.crop_and_resize(x, boxes, [0] * 7, [4, 4], "nearest", 2.0))
    yield told(image.non_max_suppression(boxes, scores, 3))
    yield told(image.non_max_suppression(boxes, scores, 3, 0.4, 0.1, name="nms"))
    for t in image.non_max_suppression_padded(boxes, scores, 3, pad_to_max_output_size=True):
        yield told(t)
    for t in image.non_max_suppression_with_scores(boxes, scores, 3, soft_nms_sigma=0.5):
        yield told(t)
    yield told(image.non_max_suppression_overlaps(tf.zeros([7, 7]), scores, 3))
    some = tf.placeholder(tf.float32, [2, 7, 1, 4])
    for t in image.combined_non_max_suppression(some, tf.placeholder(tf.float32, [2, 7, 5]), 3, 4):
        yield told(t)
    yield told(image.draw_bounding_boxes(x, tf.zeros([2, 3, 4])))
    yield told(image.draw_bounding_boxes(x, tf.zeros([2, 3, 4]), "drawn", tf.zeros([2, 3])))
    for t in image.sample_distorted_bounding_box([6, 5, 3], tf.zeros([1, 1, 4]), seed=1, seed2=2):
        yield told(t)
    for t in image.sample_distorted_bounding_box([6, 5, 3], tf.zeros([1, 1, 4]), name="some"):
        yield told(t)
    yield told(image.extract_glimpse(x, [3, 3], tf.zeros([2, 2])))
    yield told(image.extract_glimpse(x, [3, 3], tf.zeros([2, 2]), False, False, False, "glimpse"))
    yield told(image.extract_image_patches(x, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID"))


def gradients(tf):
    image = tf.image
    x = tf.placeholder(tf.float32, [2, 6, 5, 3])
    unknown = tf.placeholder(tf.float32, [None, None, None, 3])
    boxes = tf.placeholder(tf.float32, [7, 4])
    for y in (
        image.resize_bilinear(x, [3, 4], half_pixel_centers=True),
        image.resize_nearest_neighbor(x, [3, 4]),
        image.resize_nearest_neighbor(unknown, [3, 4], align_corners=True),
        image.resize_bicubic(x, [3, 4]),
        image.crop_and_resize(x, boxes, [0] * 7, [4, 4]),
        image.crop_and_resize(unknown, boxes, [0] * 7, [4, 4]),
        image.rgb_to_hsv(x),
    ):
        for g in tf.gradients(y, [x, unknown, boxes]):
            yield "None" if g is None else told(g)
    yield outcome(lambda: tf.gradients(image.resize_area(x, [3, 4]), x))
    yield outcome(lambda: tf.gradients(image.hsv_to_rgb(x), x))
    yield outcome(lambda: tf.gradients(image.adjust_hue(x, 0.5), x))
    yield outcome(lambda: tf.gradients(image.adjust_contrast(x, 0.5), x))


def codecs(tf):
    image = tf.image
    text = tf.placeholder(tf.string, [])
    for decode in (image.decode_png, image.decode_jpeg, image.decode_bmp, image.decode_gif):
        yield told(decode(text))
        yield told(decode(text, name="named"))
    yield told(image.decode_png(text, 3, dtype=tf.uint16))
    yield told(image.decode_jpeg(text, 1, ratio=2, dct_method="INTEGER_FAST"))
    yield told(image.decode_and_crop_jpeg(text, [0, 0, 2, 3], 3))
    yield told(image.extract_jpeg_shape(text))
    yield told(image.is_jpeg(text))
    yield told(image.decode_image(text))
    yield told(image.decode_image(text, 3, tf.float32, "any", expand_animations=False))
    yield outcome(lambda: image.decode_image(text, 2))
    pixels = tf.placeholder(tf.uint8, [4, 5, 3])
    yield told(image.encode_png(pixels, 3))
    yield told(image.encode_jpeg(pixels, "rgb", 80, name="jpeg"))
    yield told(image.adjust_jpeg_quality(pixels, 50))
    yield told(image.random_jpeg_quality(tf.zeros([4, 5, 3]), 20, 40, seed=1))


PROGRAMS = {
    program.__name__: program
    for program in (
        flips, boxes, colours, types, qualities, sizes, regions, gradients, codecs
    )
}  # fmt: skip

if __name__ == "__main__":
    main(PROGRAMS)
