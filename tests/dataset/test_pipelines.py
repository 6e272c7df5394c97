"""Datasets make TensorFlow's graphs, elements in its order, and errors."""

from __future__ import annotations

import pytest

import minitf as tf
from dataset.pipelines import outcome, programs, recorded

RECORDED = recorded()


def test_all_is_recorded():
    assert sorted(programs()) == sorted(RECORDED)


@pytest.mark.parametrize("one_shot", [False, True], ids=["initializable", "one shot"])
@pytest.mark.parametrize("program", programs())
def test_pipeline(program, one_shot):
    actual, expected = outcome(tf, program, one_shot), RECORDED[program][one_shot]
    assert actual == expected
