"""tf.summary.image, audio, text and tensor_summary: the messages that TensorFlow 1.15 makes."""

from __future__ import annotations

import base64
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest

import minitf as tf
from data.summaries.record import summaries
from recording import load

RECORDED = load(Path(__file__).parents[1] / "data" / "summaries" / "summaries.json.gz")


@pytest.fixture(scope="module")
def ours():
    return dict(summaries(tf))


@pytest.mark.parametrize("name", RECORDED)
def test_as_recorded(name, ours):
    want, pixels = RECORDED[name]
    if ": " in want:
        assert ours[name] == want
        return
    made, theirs = (message(text) for text in (ours[name], want))
    for value, image in zip(made.value, pixels):
        decoded = decode_png(value.image.encoded_image_string)
        np.testing.assert_array_equal(decoded, image)
    for value in (*made.value, *theirs.value):  # a PNG can be compressed in many ways
        if value.HasField("image"):
            value.image.encoded_image_string = b""
    assert made.SerializeToString() == theirs.SerializeToString()


def message(text):
    return tf.Summary.FromString(base64.b64decode(text))


def decode_png(data):
    """The pixels of a PNG without filters; checks signature and checksums."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks = {}
    at = 8
    while at < len(data):
        (size,) = struct.unpack_from(">I", data, at)
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        assert zlib.crc32(kind + body) == struct.unpack_from(">I", data, at + 8 + size)[0]
        chunks[kind] = body
        at += size + 12
    width, height, depth, colours = struct.unpack_from(">IIBB", chunks[b"IHDR"])
    channels = {0: 1, 2: 3, 6: 4}[colours]
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, -1)
    assert depth == 8 and not rows[:, 0].any()
    return rows[:, 1:].reshape(height, width, channels)


def test_metadata_is_written_once(tmp_path):
    made = tf.summary.text("words", tf.constant("x"))
    assert tf.get_collection(tf.GraphKeys.SUMMARIES) == [made]
    with tf.Session() as session, tf.summary.FileWriter(str(tmp_path)) as writer:
        for step in range(2):
            writer.add_summary(session.run(made), step)
    (file,) = tmp_path.iterdir()
    values = [e.summary.value[0] for e in tf.train.summary_iterator(str(file)) if e.summary.value]
    assert [v.metadata.plugin_data.plugin_name for v in values] == ["text", ""]
    assert [v.tensor.string_val[0] for v in values] == [b"x", b"x"]


def test_a_rate_for_each_sound_is_refused():
    """TensorFlow's process ends here."""
    made = tf.summary.audio("a", np.zeros([2, 3], np.float32), [1.0, 2.0])
    refused = pytest.raises(tf.errors.InvalidArgumentError, match="must be scalar, got: .2.")
    with tf.Session() as session, refused:
        session.run(made)
