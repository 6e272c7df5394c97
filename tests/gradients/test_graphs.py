"""Gradient graphs are TensorFlow 1.15.5's, op by op (tests/data/gradient_graphs.txt.gz)."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

import minitf as tf
from gradients.graphs import CASES, lines

DATA = Path(__file__).parents[1] / "data" / "gradient_graphs.txt.gz"


def recorded() -> dict[str, list[str]]:
    parts = gzip.decompress(DATA.read_bytes()).decode().split("# ")[1:]
    named = (part.split("\n") for part in parts)
    return {name: [line for line in rest if line] for name, *rest in named}


RECORDED = recorded()


def test_every_case_is_recorded():
    assert sorted(CASES) == sorted(RECORDED)


@pytest.mark.parametrize("name", sorted(CASES))
def test_graph(name):
    assert lines(tf, CASES[name]) == RECORDED[name]
