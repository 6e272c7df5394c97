"""tf.summary.image, audio, text and tensor_summary: the messages that TensorFlow 1.15 makes."""

from __future__ import annotations

import base64
import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

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
    pixels = np.asarray(Image.open(io.BytesIO(data)))
    return pixels if pixels.ndim == 3 else pixels[:, :, None]


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
