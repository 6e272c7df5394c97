"""Summaries of images, sounds, texts and tensors, and what goes wrong, on a real TensorFlow 1.15.

PYTHONPATH=../.. TF=tensorflow python record.py > summaries.json.gz
"""

import base64
import gzip
import importlib
import json
import os
import sys

import numpy as np


def waves(shape, low, high, dtype="float32"):
    """Numbers from low to high, without a random generator."""
    count = int(np.prod(shape))
    unit = (np.sin(np.arange(count) * 1.7) + 1) / 2
    return (low + unit * (high - low)).reshape(shape).astype(dtype)


def with_holes(array):
    out = array.copy()
    out[0, 0, 0, 0], out[0, 1, 1, -1] = np.nan, np.inf
    return out


IMAGES = {
    "positive": waves([1, 3, 5, 1], 0.5, 7),
    "both_signs": waves([2, 4, 3, 3], -3, 9),
    "negative": waves([1, 4, 3, 3], -9, -3),
    "half": waves([1, 4, 3, 4], -1, 1, "float16"),
    "double": waves([4, 2, 2, 1], 0, 1, "float64"),
    "octets": waves([2, 5, 4, 4], 0, 255, "uint8"),
    "zeros": np.zeros([1, 2, 2, 3], "float32"),
    "tiny": waves([1, 2, 2, 3], -1e-8, 1e-8),
    "holes": with_holes(waves([1, 3, 3, 3], -1, 1)),
    "only_holes": np.full([1, 2, 2, 1], np.nan, "float32"),
    "none": np.zeros([0, 2, 2, 1], "float32"),
}
SOUNDS = {
    "mono": waves([2, 7], -1, 1),
    "stereo": waves([4, 5, 2], -2, 2),
    "one": waves([1, 6, 3], 0, 0.99),
    "silent": np.zeros([1, 0, 1], "float32"),
}
TENSORS = {
    "ints": np.arange(6, dtype=np.int64).reshape(2, 3),
    "one": np.float32(2.5),
    "texts": np.array([["a", "bc"]]),
    "empty": np.zeros([0, 2], "float64"),
    "complex": np.array([1 + 2j], "complex64"),
}


def one(tf, name, make):
    """The serialised summary, or the error."""
    with tf.Graph().as_default(), tf.Session() as session:
        try:
            return [name, base64.b64encode(session.run(make())).decode()]
        except Exception as e:
            return [name, "%s: %s" % (type(e).__name__, str(e).split("\n")[0])]


def summaries(tf):
    s = tf.summary
    for name, array in IMAGES.items():
        yield one(tf, "image " + name, lambda a=array: s.image("a b", a))
    yield one(tf, "image max 1", lambda: s.image("i", IMAGES["double"], 1, family="f"))
    yield one(tf, "image max 2", lambda: s.image("i", IMAGES["double"], max_outputs=2))
    for name, array in SOUNDS.items():
        yield one(tf, "audio " + name, lambda a=array: s.audio("snd", a, 44100.0))
    yield one(tf, "audio max 1", lambda: s.audio("snd", SOUNDS["mono"], 8000, 1))
    for name, array in TENSORS.items():
        yield one(tf, "tensor " + name, lambda a=array: s.tensor_summary("t", a))
    yield one(tf, "described", lambda: s.tensor_summary("t", [1.0], "words", display_name="T"))
    yield one(tf, "text", lambda: s.text("words", tf.constant(["one", "two"])))
    yield one(tf, "merged", lambda: s.merge([s.scalar("x", 1.0), s.text("y", tf.constant("z"))]))
    # what goes wrong
    yield one(tf, "two channels", lambda: s.image("i", np.zeros([1, 2, 2, 2], "f")))
    yield one(tf, "no batch", lambda: s.image("i", np.zeros([2, 2, 2], "f")))
    yield one(tf, "no pixels", lambda: s.image("i", np.zeros([1, 0, 2, 1], "f")))
    yield one(tf, "ints", lambda: s.image("i", np.zeros([1, 2, 2, 1], "int32")))
    yield one(tf, "no max", lambda: s.image("i", np.zeros([1, 2, 2, 1], "f"), 0))
    yield one(tf, "sound of one axis", lambda: s.audio("a", np.zeros([2], "f"), 1.0))
    yield one(tf, "no rate", lambda: s.audio("a", np.zeros([2, 3], "f"), -1.0))
    yield one(tf, "no channels", lambda: s.audio("a", np.zeros([2, 3, 0], "f"), 1.0))
    yield one(tf, "text of ints", lambda: s.text("a", tf.constant(1)))


def pixels(tf, text):
    """The pixels of each image of a summary."""
    if ": " in text:
        return []
    made = tf.Summary.FromString(base64.b64decode(text))
    with tf.Graph().as_default(), tf.Session() as session:
        pngs = [v.image.encoded_image_string for v in made.value if v.HasField("image")]
        return [session.run(tf.image.decode_png(png)).tolist() for png in pngs]


def main():
    tf = importlib.import_module(os.environ["TF"])
    done = {name: [text, pixels(tf, text)] for name, text in summaries(tf)}
    sys.stdout.buffer.write(gzip.compress(json.dumps(done, sort_keys=True).encode(), 9))


if __name__ == "__main__":
    main()
