"""Checkpoints, summaries and events that hooks and supervisors write, as TensorFlow 1.15 does."""

from __future__ import annotations

from pathlib import Path

import pytest

import minitf as tf
from data.saving.record import PROGRAMS
from recording import load, record

RECORDED = load(Path(__file__).parents[1] / "data" / "saving" / "runs.json.gz")


@pytest.fixture(autouse=True)
def writers_are_closed():
    yield
    tf.summary.FileWriterCache.clear()


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_recorded(name):
    got = record(tf, PROGRAMS[name])
    assert got["said"] == RECORDED[name]["said"]
    assert got["nodes"] == RECORDED[name]["nodes"]
