"""Learning rates, moving averages, optimizers and global steps are built as in TensorFlow 1.15."""

from __future__ import annotations

from pathlib import Path

import pytest

import minitf as tf
from data.training.record import PROGRAMS
from recording import load, record

RECORDED = load(Path(__file__).parents[1] / "data" / "training" / "graphs.json.gz")


@pytest.mark.parametrize("program", PROGRAMS)
def test_as_recorded(program):
    got = record(tf, PROGRAMS[program])
    assert got["said"] == RECORDED[program]["said"]
    assert got["nodes"] == RECORDED[program]["nodes"]
