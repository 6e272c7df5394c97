"""The worked examples of docs/placement.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from minitf_runtime.devices.name import short_device
from minitf_runtime.passes.pipeline import partition_graph
from minitf_runtime.passes.text import read_graph
from passes.build import CPU, only_cpu

TEXT = (Path(__file__).parents[2] / "docs" / "placement.md").read_text("utf-8")
EXAMPLES = re.findall(r"```graph\n(.*?)```\n\n```(placed|cut)\n(.*?)```", TEXT, re.DOTALL)


def rows(text):
    return [re.split(r"\s\s+", line.strip()) for line in text.splitlines()]


@pytest.mark.parametrize("graph, kind, outcome", EXAMPLES, ids=lambda text: text[:12])
def test_example(graph, kind, outcome):
    graph = read_graph(graph)
    targets = [n.name for n in graph]
    cut = partition_graph(graph, CPU, targets=targets, kernel_types=only_cpu)
    if kind == "placed":
        got = [
            [name, short_device(placed.device), " ".join(why.rule for why in placed.why)]
            for name, placed in cut.placement.items()
        ]
    else:
        got = [
            [
                f"{short_device(e.src_device)} -> {short_device(e.dst_device)}",
                f"^{e.src}" if e.kind == "control" else e.src,
                str(e.nbytes),
                " ".join(e.consumers),
            ]
            for e in cut.edges
        ]
    assert sorted(got) == sorted(rows(outcome))


def test_there_are_examples():
    assert len(EXAMPLES) == 3
