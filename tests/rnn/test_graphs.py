"""Recurrent networks make the graphs of TensorFlow 1.15.5, with gradients, and its errors."""

from __future__ import annotations

from pathlib import Path

import pytest

import minitf as tf
from data.rnn.record import PROGRAMS
from recording import load, record

RECORDED = load(Path(__file__).parents[1] / "data" / "rnn" / "graphs.json.gz")


@pytest.mark.parametrize("program", PROGRAMS)
def test_as_recorded(program):
    got = record(tf, PROGRAMS[program])
    assert got["said"] == RECORDED[program]["said"]
    assert got["nodes"] == RECORDED[program]["nodes"]
