"""Graphs and cuts as text: what they look like, and that they read back."""

from __future__ import annotations

import numpy as np
import pytest

from minitf_runtime.graph import Graph, Node, Reason
from minitf_runtime.passes.literals import Reader, show
from minitf_runtime.passes.text import (
    read_graph,
    read_partitioned,
    write_graph,
    write_partitioned,
)
from minitf_runtime.types import float32, resource
from passes import recorded
from passes.build import node

GRAPH = Graph(
    [
        Node(
            "v",
            "VariableV2",
            device="/job:ps/task:1",
            attrs={"dtype": float32, "shape": (2, None), "container": ""},
            output_types=(float32.ref,),
            output_shapes=((2, None),),
            role="variable",
            source="net.py:4",
            asked=(Reason("scope", "with tf.device('/job:ps')", "net.py:3"),),
        ),
        Node(
            "up/w",
            "Assign",
            (("v", 0), ("two", 1)),
            ("v", "two"),
            attrs={"T": float32, "validate_shape": True},
            colocate=("v", "w"),
            input_types=(float32.ref, float32),
            output_types=(float32.ref,),
            output_shapes=(None,),
        ),
        Node("two", "Split", output_types=(float32, float32), output_shapes=((), (3,))),
        Node("handle", "VarHandleOp", output_types=(resource,), output_shapes=((),)),
    ]
)
TEXT = """\
v = VariableV2() {dtype=float32, shape=(2, none), container=""} -> float32_ref[2,?] \
@ /job:ps/task:1; role="variable"; source="net.py:4"; \
asked=(("scope", "with tf.device('/job:ps')", "net.py:3"),)
up/w = Assign(&v, two:1, ^v, ^two) {T=float32, validate_shape=true} -> float32_ref?; \
colocate=("v", "w")
two = Split() -> float32[], float32[3]
handle = VarHandleOp() -> resource[]
"""


def test_a_graph_is_one_line_a_node():
    assert write_graph(GRAPH) == TEXT


def test_a_graph_reads_back():
    assert read_graph(TEXT) == GRAPH


@pytest.mark.parametrize(
    "value, text",
    [
        (None, "none"),
        (True, "true"),
        (-3, "-3"),
        (1.5e-30, "1.5e-30"),
        (float("-inf"), "-inf"),
        ('a "b"\n\u00e9', '"a \\"b\\"\\n\\u00e9"'),
        (b"\x00\xff", 'b"\\u0000\\u00ff"'),
        (float32.ref, "float32_ref"),
        ((), "()"),
        ((1,), "(1,)"),
        ([(2, None), []], "[(2, none), []]"),
        ([float32, "x"], '[float32, "x"]'),
    ],
)
def test_values(value, text):
    assert show(value) == text
    assert Reader(text).value() == value
    assert type(Reader(text).value()) is type(value)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=np.float32).reshape(2, 3) / 3,
        np.zeros((0, 2), np.int64),
        np.array(True),
        np.array([1 + 2j, -1j], np.complex64),
        np.array([b"a\xff", b""], object),
        np.array(b"scalar", object),
        np.float16(0.1),
    ],
)
def test_arrays(array):
    got = Reader(show(array)).value()
    assert got.dtype == array.dtype
    assert got.shape == array.shape
    assert got.tolist() == array.tolist()


def test_a_function_has_no_text():
    with pytest.raises(ValueError, match="a function has no text form"):
        write_graph(Graph([node("f", op="PyFunc", func=test_values)]))


@pytest.mark.parametrize(
    "line, problem",
    [
        ("a", "expected '=' at column 2 of: a"),
        ("a = Op(", r"expected /.*/ at column 8"),
        ("a = Op() {k=+}", "expected a value"),
        ("a = Op() {k=nosuch}", "expected a value"),
        ("a = Op() -> float32[2] junk", "expected the end of the line"),
        ("a = Op(b)", "'a' takes 'b:0', which is not there"),
    ],
)
def test_what_cannot_be_read(line, problem):
    with pytest.raises(ValueError, match=problem):
        read_graph(line)


@pytest.mark.parametrize("name", ["seed_step", "while_nested", "ps_two_cpus", "local_two_cpus"])
def test_a_cut_reads_back(name):
    cut = recorded.cut(name)
    text = write_partitioned(cut)
    again = read_partitioned(text)
    assert write_partitioned(again) == text
    assert again.edges == cut.edges
    assert again.placement == cut.placement
    assert again.devices == cut.devices
