"""map_fn, scan, folds and templates make TensorFlow's graphs, shapes and values."""

from __future__ import annotations

from pathlib import Path

import pytest

import minitf as tf
from data.functional.record import PROGRAMS, run
from recording import load

RECORDED = load(Path(__file__).parents[1] / "data" / "functional" / "graphs.json.gz")


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_recorded(name):
    assert run(tf, PROGRAMS[name]) == RECORDED[name]


def test_every_program_is_recorded():
    assert sorted(PROGRAMS) == sorted(RECORDED)


@pytest.mark.parametrize("function", [tf.map_fn, tf.scan, tf.foldl, tf.foldr])
def test_the_function_is_callable(function):
    with pytest.raises(TypeError, match="fn must be callable"):
        function(1, tf.constant([1.0]))


def test_map_fn_refuses_a_scalar_and_a_sparse_tensor():
    with pytest.raises(ValueError, match="not a scalar"):
        tf.map_fn(tf.square, tf.constant(1.0))
    with pytest.raises(TypeError, match="values of a sparse tensor"):
        tf.map_fn(tf.square, tf.SparseTensor([[0]], [1.0], [2]))


def test_a_result_of_another_structure_is_refused():
    x = tf.constant([1.0, 2.0])
    with pytest.raises(ValueError, match="same nested structure"):
        tf.map_fn(lambda v: (v, v), x)
    with pytest.raises(ValueError, match="same nested structure"):
        tf.scan(lambda a, v: (a, v), x, 1.0)


def test_the_callers_scope_is_as_before():
    with tf.variable_scope("s") as scope:
        with pytest.raises(ZeroDivisionError):
            tf.map_fn(lambda v: v / (1 // 0), tf.constant([1.0]))
        assert scope.caching_device is None


def test_a_template_makes_no_more_trainable_variables():
    scale = tf.make_template("scale", lambda x: x * tf.Variable(1.0))
    scale(1.0)
    with pytest.raises(ValueError, match="(?s)Trainable variable created.*originally defined at"):
        scale(1.0)


def test_a_template_lists_its_variables():
    def layer():
        tf.get_variable("a", [])
        tf.get_variable("b", [], trainable=False)
        tf.get_local_variable("c", [])

    made = tf.make_template("layer", layer)
    assert made.variables == []
    made()
    assert [v.op.name for v in made.variables] == ["layer/a", "layer/b", "layer/c"]
    assert [v.op.name for v in made.trainable_variables] == ["layer/a"]
    assert [v.op.name for v in made.non_trainable_variables] == ["layer/b"]
    assert made.variable_scope_name == "layer/"


def test_a_template_without_a_name():
    with pytest.raises(ValueError, match="name cannot be None"):
        tf.make_template(None, lambda: None)
