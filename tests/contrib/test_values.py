"""contrib computes and learns what it does in TensorFlow 1.15.5."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import minitf as tf
from data.contrib.values import PROGRAMS
from recording import evaluate, load

RECORDED = load(Path(__file__).parents[1] / "data" / "contrib" / "values.json.gz")


@pytest.mark.parametrize("program", PROGRAMS)
def test_as_recorded(program):
    got = evaluate(tf, PROGRAMS[program])
    assert len(got) == len(RECORDED[program])
    for value, wanted in zip(got, RECORDED[program]):
        scale = max(1.0, np.abs(wanted).max())
        np.testing.assert_allclose(value, wanted, rtol=2e-4, atol=2e-5 * scale)
