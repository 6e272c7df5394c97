"""Files of pictures: PNG and BMP to the bit, JPEG nearly."""

from __future__ import annotations

import io
import struct
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

import minitf as tf
from minitf.errors import InvalidArgumentError

RAMP = (np.add.outer(np.arange(12) * 9, np.arange(15) * 7)[..., None] + [0, 20, 40]).astype(
    np.uint8
)


def run(fetches):
    with tf.Session() as session:
        return session.run(fetches)


def file_of(pixels, kind, **options):
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, kind, **options)
    return out.getvalue()


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_png_as_it_was(dtype, channels):
    pixels = np.random.default_rng(1).integers(0, np.iinfo(dtype).max, (5, 7, channels), dtype)
    png = tf.image.encode_png(tf.constant(pixels), compression=3)
    np.testing.assert_array_equal(run(tf.image.decode_png(png, dtype=dtype)), pixels)


def test_png_in_other_channels():
    png = run(tf.image.encode_png(RAMP))
    grey, rgba, wide = run(
        [
            tf.image.decode_png(png, channels=1),
            tf.image.decode_png(png, channels=4),
            tf.image.decode_png(png, dtype=tf.uint16),
        ]
    )
    np.testing.assert_allclose(grey[..., 0], RAMP @ [0.299, 0.587, 0.114], atol=1)
    assert (rgba[..., :3] == RAMP).all() and (rgba[..., 3] == 255).all()
    np.testing.assert_array_equal(wide, RAMP.astype(np.uint16) * 257)
    wide_png = run(tf.image.encode_png(wide))
    for channels, expected in ((1, None), (4, rgba)):
        found = run(tf.image.decode_png(wide_png, channels, tf.uint16))
        if expected is not None:
            np.testing.assert_array_equal(found[..., :3], wide)
            assert (found[..., 3] == 65535).all()
        np.testing.assert_array_equal(run(tf.image.decode_png(wide_png)), RAMP)


def filtered(pixels, kind):
    """A PNG of 16 bits whose rows are told by their neighbours."""
    height, width, channels = pixels.shape
    rows = pixels.astype(">u2").reshape(height, -1).view(np.uint8).astype(int)
    step = channels * 2
    left = np.pad(rows, ((0, 0), (step, 0)))[:, :-step]
    above = np.pad(rows, ((1, 0), (0, 0)))[:-1]
    corner = np.pad(left, ((1, 0), (0, 0)))[:-1]
    plane = left + above - corner
    near = [abs(plane - x) for x in (left, above, corner)]
    paeth = np.where(
        (near[0] <= near[1]) & (near[0] <= near[2]), left,
        np.where(near[1] <= near[2], above, corner),
    )  # fmt: skip
    guess = [0 * rows, left, above, (left + above) // 2, paeth][kind]
    told = ((rows - guess) & 255).astype(np.uint8)
    return b"".join(bytes([kind]) + row.tobytes() for row in told)


@pytest.mark.parametrize("kind", range(5))
def test_filters_of_wide_png(kind):
    import zlib

    pixels = np.random.default_rng(2).integers(0, 65535, (4, 5, 3), np.uint16)
    head = struct.pack(">IIBBBBB", 5, 4, 16, 2, 0, 0, 0)
    parts = (b"IHDR", head), (b"IDAT", zlib.compress(filtered(pixels, kind))), (b"IEND", b"")
    png = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in parts
    )
    np.testing.assert_array_equal(run(tf.image.decode_png(png, dtype=tf.uint16)), pixels)


def test_jpeg():
    jpeg = run(tf.image.encode_jpeg(RAMP, quality=95))
    image, grey, half, crop, shape = run(
        [
            tf.image.decode_jpeg(jpeg),
            tf.image.decode_jpeg(jpeg, channels=1),
            tf.image.decode_jpeg(jpeg, ratio=2),
            tf.image.decode_and_crop_jpeg(jpeg, [2, 3, 4, 5]),
            tf.image.extract_jpeg_shape(jpeg),
        ]
    )
    np.testing.assert_allclose(image.astype(int), RAMP, atol=8)
    assert [grey.shape, half.shape] == [(12, 15, 1), (6, 8, 3)]
    np.testing.assert_array_equal(crop, image[2:6, 3:8])
    assert shape.tolist() == [12, 15, 3]
    assert run(tf.image.is_jpeg(jpeg)) and not run(tf.image.is_jpeg(b"no"))


def test_quality_of_jpeg():
    sizes = [len(run(tf.image.encode_jpeg(RAMP, quality=q))) for q in (5, 50, 95)]
    assert sizes == sorted(sizes)
    worse = run(tf.image.adjust_jpeg_quality(RAMP, 5)).astype(int)
    better = run(tf.image.adjust_jpeg_quality(RAMP, 95)).astype(int)
    assert abs(worse - RAMP).sum() > abs(better - RAMP).sum()


def test_gif():
    frames = [Image.fromarray(RAMP // (i + 1)).quantize(64) for i in range(3)]
    out = io.BytesIO()
    frames[0].save(out, "GIF", save_all=True, append_images=frames[1:])
    found, first = run(
        [
            tf.image.decode_gif(out.getvalue()),
            tf.image.decode_image(out.getvalue(), expand_animations=False),
        ]
    )
    assert found.shape == (3, 12, 15, 3)
    np.testing.assert_array_equal(first, found[0])
    with pytest.raises(InvalidArgumentError, match="Got 3 frames, but animated gifs can only"):
        run(tf.image.decode_png(out.getvalue()))


def test_any_kind():
    for kind, exact in (("PNG", True), ("BMP", True), ("JPEG", False)):
        image = run(tf.image.decode_image(file_of(RAMP, kind)))
        np.testing.assert_allclose(image.astype(int), RAMP, atol=0 if exact else 40)
    floats = run(tf.image.decode_image(file_of(RAMP, "PNG"), dtype=tf.float32))
    np.testing.assert_allclose(floats, RAMP / 255, rtol=1e-5)
    with pytest.raises(InvalidArgumentError, match="Unable to decode bytes as JPEG, PNG, GIF"):
        run(tf.image.decode_image(b"nonsense"))


@pytest.mark.parametrize(
    "make, error",
    [
        (lambda: tf.image.decode_png(b""), "got empty file"),
        (lambda: tf.image.decode_png(b"nonsense"), "unknown format starting with 'nonsense'"),
        (
            lambda: tf.image.decode_png(file_of(RAMP, "PNG")[:60]),
            "Invalid PNG header, data size 60",
        ),
        (lambda: tf.image.decode_jpeg(file_of(RAMP, "JPEG")[:200]), "Invalid JPEG data"),
        (lambda: tf.image.decode_png(file_of(RAMP, "PNG"), 2), "channels must be 0, 1, 3, or 4"),
        (lambda: tf.image.decode_jpeg(b"", ratio=3), "ratio must be 1, 2, 4, or 8, got 3"),
        (lambda: tf.image.decode_jpeg(b"", dct_method="FAST"), "dct_method must be one of"),
        (lambda: tf.image.decode_bmp(b"BM"), "requires at least 32 bytes"),
        (lambda: tf.image.decode_bmp(file_of(RAMP, "BMP")[:90]), "got 90 bytes"),
        (lambda: tf.image.decode_bmp(file_of(RAMP, "BMP"), 4), "does not match bits per pixel"),
        (lambda: tf.image.encode_png(RAMP, compression=20), "compression should be in"),
        (lambda: tf.image.encode_jpeg(RAMP, format="grayscale"), "must have 1 channels, got 3"),
        (lambda: tf.image.encode_jpeg(RAMP, quality=101), "quality must be in"),
        (lambda: tf.image.encode_png(RAMP[:0]), "must not be empty"),
        (lambda: tf.image.extract_jpeg_shape(b"no"), "Invalid JPEG data, size 2"),
    ],
)
def test_what_cannot_be(make, error):
    with pytest.raises(InvalidArgumentError, match=error):
        run(make())


def test_without_pillow():
    program = """
        import sys
        sys.modules["PIL"] = None
        import minitf as tf
        with tf.Session() as session:
            print(len(session.run(tf.image.encode_png([[[7]]]))) > 0)
            try:
                session.run(tf.image.decode_jpeg(b"\\xff\\xd8\\xff..."))
            except tf.errors.UnimplementedError as e:
                print(e.message)
    """
    lines = [line.removeprefix(" " * 8) for line in program.splitlines()]
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True)
    assert done.stdout.startswith("True\n"), done.stderr
    assert "pip install 'minitf-graph[image]'" in done.stdout
