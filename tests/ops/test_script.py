"""py_func: arguments, results, and exceptions as TensorFlow 1.15's classes."""

from __future__ import annotations

import gc
import warnings
import weakref
from typing import Any

import numpy as np
import pytest

import minitf as tf


def call(fn: Any, inputs: Any, types: Any, **kwargs: Any) -> Any:
    with tf.Session() as session:
        return session.run(tf.py_func(fn, inputs, types, **kwargs))


def test_arguments():
    def kinds(*args: Any) -> str:
        return " ".join(f"{type(a).__name__}:{getattr(a, 'dtype', '')}" for a in args)

    given = [1, 2.0, [1, 2], "a", ["a", "b"], True]
    assert call(kinds, given, tf.string) == (
        b"int32:int32 float32:float32 ndarray:int32 bytes: ndarray:object bool:bool"
        if np.bool_.__name__ == "bool"
        else b"int32:int32 float32:float32 ndarray:int32 bytes: ndarray:object bool_:bool"
    )


def test_results():
    assert call(lambda: 1, [], tf.int64) == 1
    assert call(lambda: (1, [1.0, 2.0]), [], [tf.int64, tf.float64])[1].tolist() == [1.0, 2.0]
    assert call(lambda: "héé\0", [], tf.string) == "héé\0".encode()
    assert call(lambda: b"h\0", [], tf.string) == b"h\0"
    assert call(lambda: np.array(["a", "bc"]), [], tf.string).tolist() == [b"a", b"bc"]
    assert call(lambda: [["a", "b\0"]], [], tf.string).tolist() == [b"a", b"b\0"]
    assert call(lambda: None, [], []) is None
    (one,) = call(lambda: 2.5, [], [tf.float64], stateful=False)
    assert one == 2.5


def test_static_types_and_unknown_shapes():
    a, b = tf.py_func(lambda: (1, 2.0), [], [tf.int64, tf.float64])
    assert (a.dtype, b.dtype) == (tf.int64, tf.float64)
    assert a.shape.ndims is None
    assert a.op.type == "PyFunc"
    assert tf.py_func(lambda: 1, [], tf.int64, stateful=False).op.type == "PyFuncStateless"
    assert tf.numpy_function(lambda: 1, [], tf.int64).op.type == "PyFunc"


def test_the_function_may_write_into_its_arguments():
    x = tf.constant([1.0, 2.0])

    def fill(a: Any) -> Any:
        a.fill(3)
        return a

    with tf.Session() as session:
        assert session.run([tf.py_func(fill, [x], tf.float32), x])[0].tolist() == [3.0, 3.0]
        assert session.run(x).tolist() == [1.0, 2.0]


def test_what_the_function_keeps_can_change_later():
    kept = np.zeros(2)

    def give() -> Any:
        kept[:] += 1
        return kept

    with tf.Session() as session:
        y = tf.py_func(give, [], tf.float64)
        first, second = session.run(y), session.run(y)
    assert (first.tolist(), second.tolist()) == ([1.0, 1.0], [2.0, 2.0])


@pytest.mark.parametrize(
    ("raised", "becomes"),
    [
        (ValueError, tf.errors.InvalidArgumentError),
        (TypeError, tf.errors.InvalidArgumentError),
        (UnicodeError, tf.errors.InvalidArgumentError),  # a ValueError
        (StopIteration, tf.errors.OutOfRangeError),
        (MemoryError, tf.errors.ResourceExhaustedError),
        (NotImplementedError, tf.errors.UnimplementedError),
        (KeyError, tf.errors.UnknownError),
        (ZeroDivisionError, tf.errors.UnknownError),
    ],
)
def test_exceptions(raised, becomes):
    def fail() -> None:
        raise raised("so it goes")

    with pytest.raises(becomes, match=f"{raised.__name__}: ") as caught:
        call(fail, [], tf.int64)
    assert type(caught.value) is becomes
    assert 'raise raised("so it goes")' in str(caught.value)
    assert str(caught.value).count(f"{raised.__name__}: ") == 2
    assert "script.py" not in str(caught.value).split("\n\t [[")[0].replace("test_script.py", "")


def test_an_error_of_the_package_becomes_unknown_too():
    def fail() -> None:
        raise tf.errors.OutOfRangeError(None, None, "the end")

    with pytest.raises(tf.errors.UnknownError, match="OutOfRangeError: the end"):
        call(fail, [], tf.int64)


@pytest.mark.parametrize(
    ("fn", "types", "text"),
    [
        (lambda: 1.0, tf.float32, "0-th value returned by pyfunc_.* is double, but expects float"),
        (lambda: (1, 2), tf.int64, "pyfunc_.* returns 2 values, but expects to see 1 values."),
        (lambda: None, tf.int64, "returns 0 values, but expects to see 1 values."),
    ],
)
def test_wrong_results(fn, types, text):
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        call(fn, [], types)


@pytest.mark.parametrize("result", [{}, np.array([1, 2], object)])
def test_results_that_are_no_tensors(result):
    with pytest.raises(tf.errors.InternalError, match="Unsupported object type (dict|int)"):
        call(lambda: result, [], tf.int64)


def test_a_function_of_another_process():
    lost = tf.raw_ops.PyFunc(input=[], token="pyfunc_1000000", Tout=[tf.int64])
    with (
        tf.Session() as session,
        pytest.raises(tf.errors.InvalidArgumentError, match="pyfunc_1000000 is not found"),
    ):
        session.run(lost)


def test_numpy_warns_as_in_the_users_own_code():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(lambda: np.log(np.zeros(1)), [], tf.float64)
    assert any("divide by zero" in str(w.message) for w in caught)


def test_bad_arguments():
    with pytest.raises(ValueError, match="Expected func to be callable"):
        tf.py_func(3, [], tf.int64)
    with pytest.raises(TypeError, match="Expected list for 'input' argument to 'PyFunc' Op"):
        tf.py_func(lambda x: x, 3, tf.int64)


def test_the_graph_keeps_the_function():
    graph = tf.Graph()
    with graph.as_default():

        def fn() -> int:
            return 5

        y = tf.py_func(fn, [], tf.int64)
        alive = weakref.ref(fn)
        del fn
        gc.collect()
        with tf.Session() as session:
            assert session.run(y) == 5
    del graph, y, session
    gc.collect()
    assert alive() is None
