"""Monitored sessions, hooks, supervisors: what they do and add, as TensorFlow 1.15 does."""

from __future__ import annotations

from pathlib import Path

import pytest

import minitf as tf
from data.sessions.record import PROGRAMS
from recording import load, record

RECORDED = load(Path(__file__).parents[1] / "data" / "sessions" / "runs.json.gz")


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_recorded(name):
    got = record(tf, PROGRAMS[name])
    assert got["said"] == RECORDED[name]["said"]
    assert got["nodes"] == RECORDED[name]["nodes"]
