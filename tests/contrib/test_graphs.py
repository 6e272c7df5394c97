"""contrib makes the ops, names, devices and collections of TensorFlow 1.15.5, and its errors."""

from __future__ import annotations

from pathlib import Path

import pytest

import minitf as tf
from data.contrib.record import PROGRAMS
from recording import load, record

RECORDED = load(Path(__file__).parents[1] / "data" / "contrib" / "graphs.json.gz")


@pytest.mark.parametrize("program", PROGRAMS)
def test_as_recorded(program):
    got = record(tf, PROGRAMS[program])
    assert got["said"] == RECORDED[program]["said"]
    assert got["nodes"] == RECORDED[program]["nodes"]
