"""Functions on arrays, strings and numbers make TensorFlow's graphs, values and errors."""

from __future__ import annotations

import math
from typing import Any

import pytest

import minitf as tf
from ops.array_programs import FOLDERS, graph_of, programs, recorded, values_of

RECORDED = {folder: recorded(folder) for folder in FOLDERS}


def every(kind: str) -> list[tuple[str, str]]:
    return [(folder, program) for folder in FOLDERS for program in programs(folder, kind)]


@pytest.mark.parametrize("folder", FOLDERS)
def test_all_is_recorded(folder):
    for kind in ("graphs", "values"):
        assert sorted(programs(folder, kind)) == sorted(RECORDED[folder][kind])


@pytest.mark.parametrize(("folder", "program"), every("graphs"))
def test_graph(folder, program):
    assert graph_of(tf, program) == RECORDED[folder]["graphs"][program]


@pytest.mark.parametrize(("folder", "program"), every("values"))
def test_values(folder, program):
    actual, expected = values_of(tf, program), RECORDED[folder]["values"][program]
    assert actual[:1] == expected[:1]
    assert close(actual, expected), f"got {actual}, expected {expected}"


def close(a: Any, b: Any) -> bool:
    """Equal, floats within rounding."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(close, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-5) or (a != a and b != b)
    return a == b
