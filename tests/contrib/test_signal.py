"""tf.signal makes the graphs of TensorFlow 1.15.5, and computes what it does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import minitf as tf
from data.signal.record import PROGRAMS, record
from recording import load

RECORDED = load(Path(__file__).parents[1] / "data" / "signal" / "recorded.json.gz")


@pytest.mark.parametrize("program", PROGRAMS)
def test_as_recorded(program):
    got, wanted = record(tf, PROGRAMS[program]), RECORDED[program]
    assert got["said"] == wanted["said"]
    assert got["nodes"] == wanted["nodes"]
    assert len(got["values"]) == len(wanted["values"])
    for value, known in zip(got["values"], wanted["values"]):
        np.testing.assert_allclose(value, known, rtol=2e-4, atol=2e-5)
