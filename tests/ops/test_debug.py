"""Assert, Print, tf.print and the text of tensors, as TensorFlow 1.15 writes them."""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
import pytest

import minitf as tf
from minitf.ops.debug import string_format
from minitf_runtime.ops.summarize import summarize, summarize_ends

CUBE = np.arange(24).reshape(2, 3, 4)


def text(*values: bytes) -> Any:
    return np.array(values, object)


@pytest.mark.parametrize(
    ("value", "limit", "shown"),
    [
        (np.arange(1, 6), 3, "1 2 3..."),
        (np.arange(1, 4), 3, "1 2 3"),
        (np.arange(1, 4), -1, "1 2 3"),
        (np.arange(4).reshape(2, 2), 3, "[0 1][2...]..."),
        (np.arange(4).reshape(2, 2), 9, "[0 1][2 3]"),
        (CUBE, 8, "[[0 1 2 3][4 5 6 7]]..."),
        (CUBE, 3, "[[0 1 2...]]..."),
        (CUBE, 0, "..."),
        (np.zeros((0, 3)), 3, ""),
        (np.bool_(True), 3, "1"),
        (np.array([1 + 2j]), 3, "?"),
        (np.uint8(200), 3, "200"),
        (text(b"a b", 'c"\n\x01é'.encode()), 3, 'a b c\\"\\n\\001\\303\\251'),
        (
            np.float32([1e10, 1e-7, 1 / 3, 123456789, 1, 1e5, 1e6, np.inf, -np.inf, np.nan, -0.0]),
            99,
            "1e+10 1e-07 0.333333343 123456792 1 100000 1e+06 inf -inf nan -0",
        ),
        (np.array([1e10, 1 / 3, 1e16, 0.1]), 9, "10000000000 0.33333333333333331 1e+16 0.1"),
        (np.float16([1 / 3, 65504]), 9, "0.333251953 65504"),
    ],
)
def test_summary(value, limit, shown):
    assert summarize(value, limit) == shown


@pytest.mark.parametrize(
    ("value", "ends", "shown"),
    [
        (np.arange(1, 10), 3, "[1 2 3 ... 7 8 9]"),
        (np.arange(7), 1, "[0 ... 6]"),
        (np.arange(7), -1, "[0 1 2 3 4 5 6]"),
        (CUBE, 1, "[[[0 ... 3]\n  ...\n  [8 ... 11]]\n\n [[12 ... 15]\n  ...\n  [20 ... 23]]]"),
        (np.arange(16).reshape(8, 2), 1, "[[0 1]\n ...\n [14 15]]"),
        (np.zeros((0, 3)), 3, "[]"),
        (text(b"a", b'b"'), 3, '["a" "b\\""]'),
        (np.float32(1.5), 3, "1.5"),
    ],
)
def test_summary_of_both_ends(value, ends, shown):
    assert summarize_ends(value, ends) == shown


# ---- Assert


@pytest.mark.parametrize("data", [["x is", 3], ["x is", [1.5, 2.0]]])
def test_assert(data):
    holds = tf.placeholder(tf.bool, [])
    check = tf.Assert(holds, data)
    with tf.Session() as session:
        session.run(check, {holds: True})
        shown = r"assertion failed: \[x is\] \[(3|1.5 2)\]"
        with pytest.raises(tf.errors.InvalidArgumentError, match=shown):
            session.run(check, {holds: False})


def test_assert_guards_other_ops():
    x = tf.placeholder(tf.float32, [])
    with tf.control_dependencies([tf.Assert(x > 0, [x])]):
        y = tf.sqrt(x)
    with tf.Session() as session:
        assert session.run(y, {x: 4.0}) == 2.0
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"failed: \[-4\]"):
            session.run(y, {x: -4.0})


def test_assert_needs_a_scalar():
    holds = tf.placeholder(tf.bool)
    check = tf.raw_ops.Assert(condition=holds, data=[1])
    with (
        tf.Session() as session,
        pytest.raises(tf.errors.InvalidArgumentError, match=r"should be a scalar: \[2\]"),
    ):
        session.run(check, {holds: [True, True]})


# ---- printing


def test_print_passes_its_input_on(capfd):
    x = tf.constant([1.0, 2.0])
    shown = tf.Print(x, [x, "a", [1, 2, 3, 4, 5], [["x", "y"]]], message="msg: ", summarize=4)
    with tf.Session() as session:
        assert session.run(shown).tolist() == [1.0, 2.0]
    assert capfd.readouterr().err == "msg: [1 2][a][1 2 3 4...][[x y]]\n"


def test_print_the_first_times(capfd):
    shown = tf.Print(tf.constant(1), [7], first_n=2)
    with tf.Session() as session:
        for _ in range(4):
            session.run(shown)
    assert capfd.readouterr().err == "[7]\n[7]\n"


def test_print_v2(capfd):
    x = tf.constant([1.0, 2.0])
    ops = [
        tf.print("hello", x, {"a": x, "b": [1, x]}, [x, "q"], 3, sep="|", end="END\n"),
        tf.print(tf.constant("just a string")),
        tf.print("out", x, output_stream=sys.stdout),
        tf.print("log", x, output_stream=tf.logging.info),
        tf.print("sparse", tf.SparseTensor([[0]], [1], [2]), end=""),
    ]
    with tf.Session() as session:
        for op in ops:
            session.run(op)
    found = capfd.readouterr()
    assert found.out == "out [1 2]\n"
    assert found.err.replace("I log [1 2]\n\n", "") == (
        "hello|[1 2]|{'a': [1 2], 'b': [1, [1 2]]}|[[1 2], 'q']|3END\n"
        "just a string\n"
        "sparse 'SparseTensor(indices=[[0]], values=[1], shape=[2])'"
    )


def test_print_to_a_file(tmp_path):
    path = tmp_path / "log"
    op = tf.print("x", tf.constant(3), output_stream=f"file://{path}")
    with tf.Session() as session:
        session.run(op)
        session.run(op)
    assert path.read_text() == "x 3\nx 3\n"


def test_print_marks_that_the_text_does_not_have():
    x = tf.constant([1, 2])
    op = tf.print("hello {}", x, [x, x])
    form = op.inputs[0].op
    assert form.get_attr("template") == b"hello {} {}9 [{}9, {}9]"
    assert form.get_attr("placeholder") == b"{}9"


def test_print_arguments():
    with pytest.raises(ValueError, match="Unrecognized keyword arguments for tf.print"):
        tf.print("x", foo=3)
    with pytest.raises(ValueError, match="Unsupported output stream"):
        tf.print("x", output_stream=3)


def test_string_format():
    with tf.Session() as session:
        shown = session.run(string_format("a {} b {} c", [tf.constant(1), tf.constant([2, 3])]))
    assert shown == b"a 1 b [2 3] c"
    with pytest.raises(ValueError, match="2 placeholder.* does not match 1 tensor"):
        string_format("{} {}", [tf.constant(1)])


def test_timestamp():
    before = time.time()
    with tf.Session() as session:
        assert before <= session.run(tf.timestamp()) <= time.time()
