"""tf.signal makes the graphs of TensorFlow 1.15.5, and computes what it does."""

from __future__ import annotations

from pathlib import Path

import pytest

import minitf as tf
from data.signal.record import PROGRAMS, record
from recording import check_same, load

RECORDED = load(Path(__file__).parents[1] / "data" / "signal" / "recorded.json.gz")


@pytest.mark.parametrize("program", PROGRAMS)
def test_as_recorded(program):
    check_same(record(tf, PROGRAMS[program]), RECORDED[program])
