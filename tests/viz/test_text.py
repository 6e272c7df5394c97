"""Text that fits: folding, grouped names, tables; and the step as a networkx graph."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

import minitf as tf
from minitf.viz.dot import to_dot
from minitf.viz.export import to_networkx
from minitf.viz.text import Column, fold, grouped, show_table
from minitf_runtime.graph import Graph
from minitf_runtime.passes.pipeline import partition_graph
from passes.build import CPU


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", [""]),
        ("short", ["short"]),
        ("one two three four", ["one two", "three four"]),
        ("scope/inner/name_1", ["scope/", "inner/", "name_1"]),
        ("a/b cdefgh/ijklm", ["a/b", "cdefgh/", "ijklm"]),
        ("abcdefghijklmno", ["abcdefghij", "klmno"]),
    ],
)
def test_fold(text, lines):
    assert fold(text, 10) == lines


def test_fold_loses_nothing():
    text = "gradients/MatMul_grad/tuple/control_dependency_1 [64x128] and so on and on"
    for width in range(1, 90):
        lines = fold(text, width)
        assert all(len(line) <= width for line in lines)
        assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_grouped_names():
    assert grouped(["a", "b"]) == ["a b"]
    assert grouped(["s/a", "t/u/b", "s/c"]) == ["s/{a c}", "t/u/b"]
    assert grouped(["g/X_grad/tuple/deps", "g/X_grad/Mul"]) == ["g/X_grad/{tuple/deps Mul}"]
    assert grouped([]) == []


def test_table():
    out = Console(file=io.StringIO(), width=40)
    columns = (Column("where"), Column("n", right=True), Column("what"))
    rows = [("here", "1", "some words that need more lines"), ("here", "20", "x\ny")]
    show_table(out, "Title", columns, rows, ["A note."])
    assert out.file.getvalue() == (
        "Title\n"
        "  A note.\n"
        "  where   n  what\n"
        "  here    1  some words that need more\n"
        "             lines\n"
        "         20  x\n"
        "             y\n"
        "\n"
    )


@pytest.fixture
def cut():
    """A step with a loop, strings and a shape that is not known, over two tasks."""
    with tf.device("/job:ps/task:0"):
        limit = tf.placeholder(tf.float32, name="limit")
        text = tf.as_string(limit, name="text")
    with tf.device("/job:worker/task:0"):
        body = tf.while_loop(lambda i: i < limit, lambda i: i + 1.0, [0.0])
        end = tf.group(body, tf.identity(text, name="copy"), name="end")
    nodes = tf.get_default_graph().nodes()
    return partition_graph(Graph(nodes), CPU, feeds=[limit.name], targets=[end.name])


def test_networkx(cut):
    graph = to_networkx(cut)
    assert set(graph) == {n.name for part in cut.parts.values() for n in part}
    crossing = {(a, b): d for a, b, d in graph.edges(data=True) if d["transfer"]}
    assert set(crossing) == {(e.send, e.recv) for e in cut.edges}
    assert all(graph.nodes[a]["device"] != graph.nodes[b]["device"] for a, b in crossing)
    kept = [(a, b) for a, b, d in graph.edges(data=True) if not d["transfer"]]
    assert all(graph.nodes[a]["device"] == graph.nodes[b]["device"] for a, b in kept)
    string = next(d for d in crossing.values() if d["dtype"] == "string")
    assert "bytes" not in string, "the size of strings is not known"
    assert string["shape"] == "?"


def test_dot_of_any_step(cut):
    out = to_dot(cut)
    assert out.count("{") == out.count("}") == 3
    assert '"text" -> "copy" [style=bold, color="#b03030", label="? B"];' in out
