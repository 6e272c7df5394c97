"""Loops and conditionals keep their contexts in meta graphs, so that gradients can come later."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

import minitf as tf
from data.control_flow.record import MODELS, build, run
from minitf.proto.control_flow import CondContextDef, WhileContextDef
from minitf.proto.meta_graph import MetaGraphDef

DATA = Path(__file__).parents[1] / "data" / "control_flow"
ARCHIVE = zipfile.ZipFile(DATA / "recorded.zip")
RUNS = json.loads(ARCHIVE.read("runs.json"))
KINDS = {"cond_context": CondContextDef, "while_context": WhileContextDef}


def check(name, got):
    for ours, theirs in zip(got, RUNS[name], strict=True):
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5)


def contexts(data):
    """The contexts of a meta graph as text."""
    collections = MetaGraphDef.FromString(data).collection_def
    return {
        key: [str(kind.FromString(v)) for v in collections[key].bytes_list.value]
        for key, kind in KINDS.items()
        if key in collections
    }


@pytest.mark.parametrize("name", MODELS)
def test_their_graph_is_differentiated_here(name, tmp_path):
    ARCHIVE.extract(f"{name}.meta", tmp_path)
    check(name, run(tf, str(tmp_path / f"{name}.meta")))


@pytest.mark.parametrize("name", MODELS)
def test_their_graph_is_differentiated_below_a_scope(name, tmp_path):
    ARCHIVE.extract(f"{name}.meta", tmp_path)
    check(name, run(tf, str(tmp_path / f"{name}.meta"), "a/b"))


@pytest.mark.parametrize("name", MODELS)
def test_contexts_are_written_as_theirs(name, tmp_path):
    build(tf, name, str(tmp_path / "m"))
    ours, theirs = (tmp_path / "m").read_bytes(), ARCHIVE.read(f"{name}.meta")
    assert contexts(ours) == contexts(theirs) != {}


@pytest.mark.parametrize("name", MODELS)
def test_a_part_of_a_graph_keeps_them(name, tmp_path):
    build(tf, name, str(tmp_path / "m"), "part")
    check(name, run(tf, str(tmp_path / "m"), "other"))


# TensorFlow itself cannot import this one below a scope: it takes the frame of the gradient's loop
# for that of the loop.
NOT_BELOW_A_SCOPE_THERE = "differentiated"


@pytest.mark.oracle
@pytest.mark.parametrize("scope", [None, "part"])
def test_our_graphs_are_differentiated_there(scope, tmp_path, oracle):
    names = [n for n in MODELS if not scope or n != NOT_BELOW_A_SCOPE_THERE]
    for name in names:
        build(tf, name, str(tmp_path / name), scope)
    said = oracle(f"""
        import json, sys
        sys.path[:0] = [{str(DATA)!r}]
        import tensorflow as tf
        from record import run
        print(json.dumps([run(tf, "{tmp_path}/" + n, {scope!r}) for n in {names}]))
    """)
    for name, got in zip(names, json.loads(said.splitlines()[-1]), strict=True):
        check(name, got)


def test_the_loops_frame_moves_below_the_scope(tmp_path):
    build(tf, "differentiated", str(tmp_path / "m"))
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(str(tmp_path / "m"), import_scope="a")
        frames = {op.get_attr("frame_name") for op in graph.get_operations() if op.type == "Enter"}
    assert frames == {b"a/cond/while/while_context", b"a/gradients/cond/while/while_context"}


def exported(name):
    with tf.Graph().as_default():
        tf.identity(MODELS[name](tf), name="y")
        return tf.train.export_meta_graph()


def test_a_graph_def_does_not_tell_them():
    graph_def = exported("loop").graph_def
    with tf.Graph().as_default():
        x, y = tf.import_graph_def(graph_def, return_elements=["x:0", "y:0"])
        with pytest.raises(ValueError, match="the loop of 'import/while/Exit_1'.*meta graph does"):
            tf.gradients(y, x)


def test_a_conditional_can_do_without(tmp_path):
    """Its gradient then asks at run time which branch was taken, as in TensorFlow."""
    graph_def = exported("branches").graph_def
    with tf.Graph().as_default(), tf.Session() as session:
        x, p, y = tf.import_graph_def(graph_def, return_elements=["x:0", "p:0", "y:0"])
        grad = tf.gradients(y, x)[0]
        assert [session.run(grad, {p: choice}) for choice in (True, False)] == [8.0, 1.0]


def test_new_loops_get_frames_of_their_own():
    made = exported("loop")
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(made)
        tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
        names = [c.name for c in graph.get_collection(tf.GraphKeys.WHILE_CONTEXT)]
        assert len(set(names)) == 2


def test_a_context_may_lie_outside_the_part():
    with tf.name_scope("a"):
        tf.identity(MODELS["loop"](tf))
    with tf.name_scope("b"):
        tf.constant(1.0)
    assert "while_context" not in tf.train.export_meta_graph(export_scope="b").collection_def


@pytest.mark.parametrize(
    "field, text",
    [
        ("pivot_name", "The name 'gone:0' refers to a Tensor which does not exist"),
        ("pivot_for_pred_name", "gone:0"),
        ("maximum_iterations_name", "gone:0"),
    ],
)
def test_a_context_that_names_what_is_not_there(field, text):
    made = exported("bounded")
    collection = made.collection_def["while_context"].bytes_list.value
    context = WhileContextDef.FromString(collection[0])
    setattr(context, field, "gone:0")
    collection[0] = context.SerializeToString()
    with tf.Graph().as_default(), pytest.raises(ValueError, match=f"'while_context'.*{text}"):
        tf.train.import_meta_graph(made)


def test_contexts_that_are_damaged():
    made = exported("nested")
    collection = made.collection_def["while_context"].bytes_list.value
    whole = collection[0]
    collection[0] = whole[:-3]
    with tf.Graph().as_default(), pytest.raises(ValueError, match="collection 'while_context'"):
        tf.train.import_meta_graph(made)
    context = WhileContextDef.FromString(whole)
    context.nested_contexts[0].Clear()
    collection[0] = context.SerializeToString()
    with tf.Graph().as_default(), pytest.raises(ValueError, match="inside another one is empty"):
        tf.train.import_meta_graph(made)


def test_an_import_in_a_branch_or_loop_is_part_of_it():
    """Values, gradients and names are those of TensorFlow 1.15.5."""
    with tf.Graph().as_default() as small:
        x = tf.placeholder(tf.float32, [], name="x")
        tf.add(x * x, 1.0, name="y")

    def imported(value):
        return tf.import_graph_def(small.as_graph_def(), {"x:0": value}, ["y:0"])[0]

    a, p = tf.constant(3.0), tf.placeholder(tf.bool, [])
    chosen = tf.cond(p, lambda: imported(a), lambda: a)
    repeated = tf.while_loop(lambda i, v: i < 2, lambda i, v: (i + 1, imported(v)), [0, a])[1]
    grad = tf.gradients([chosen, repeated], a)[0]
    with tf.Session() as session:
        assert session.run([chosen, repeated, grad], {p: True}) == [10.0, 101.0, 126.0]
    graph = tf.get_default_graph()
    product, free = (graph.get_operation_by_name(f"cond/import/{n}") for n in ("mul", "x"))
    assert [t.name for t in product.inputs] == ["cond/Switch_1:1"] * 2
    assert [c.name for c in free.control_inputs] == ["cond/switch_t"]


def test_a_loop_is_imported_into_a_loop():
    made = exported("loop")

    def body(i, value):
        tf.train.import_meta_graph(made, import_scope="part", input_map={"x:0": value})
        return i + 1, tf.get_default_graph().get_tensor_by_name("while/part/y:0")

    found = tf.while_loop(lambda i, v: i < 2, body, [0, tf.constant(3.0)])[1]
    with tf.Session() as session:
        assert session.run(found) == 207403550.0
