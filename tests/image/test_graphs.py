"""Functions of tf.image add the ops of TensorFlow 1.15.5, node by node."""

from __future__ import annotations

from pathlib import Path

import pytest

import minitf as tf
from data.images.record import PROGRAMS
from recording import load, record

RECORDED = load(Path(__file__).parents[1] / "data" / "images" / "graphs.json.gz")
# Shapes that go through a ShapeN are known here and not in TensorFlow: a constant for a Shape.
KNOWN_EARLIER = {"Const", "Shape"}


def as_far_as_compared(text):
    """A line without what only TensorFlow's errors say in the end."""
    return text.partition(" and with ")[0].replace("bfloat16, ", "").rstrip(".")[:120]


@pytest.mark.parametrize("name", list(PROGRAMS))
def test_as_recorded(name):
    got, wanted = record(tf, PROGRAMS[name]), RECORDED[name]
    assert [*map(as_far_as_compared, got["said"])] == [*map(as_far_as_compared, wanted["said"])]
    different = [
        pair for pair in zip(got["nodes"], wanted["nodes"], strict=True) if len({*pair}) > 1
    ]
    for mine, theirs in different:
        assert mine.split(" | ")[0] == theirs.split(" | ")[0]
        assert {line.split(" | ")[1] for line in (mine, theirs)} == KNOWN_EARLIER
    assert not different or name == "qualities"
