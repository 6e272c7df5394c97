"""Values and gradients of tf.nn and losses are those of TensorFlow 1.15.5, up to rounding."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

import minitf as tf
from ops.nn_value_cases import CASES, values

DATA = Path(__file__).parents[1] / "data" / "nn_values.json.gz"
RECORDED = json.loads(gzip.decompress(DATA.read_bytes()))


def test_every_case_is_recorded():
    assert sorted(CASES) == sorted(RECORDED)


@pytest.mark.parametrize("name", sorted(CASES))
def test_values(name):
    found = values(tf, CASES[name])
    assert [(v.dtype.name, list(v.shape)) for v in found] == [(d, s) for d, s, _ in RECORDED[name]]
    for i, (value, (_, shape, expected)) in enumerate(zip(found, RECORDED[name])):
        np.testing.assert_allclose(
            value, np.reshape(expected, shape), rtol=1e-4, atol=3e-5, err_msg=f"tensor {i}"
        )
