"""tf.import_graph_def and tf.graph_util; whole models are in train/test_exchange.py."""

from __future__ import annotations

import numpy as np
import pytest

import minitf as tf
from minitf.graph_util import (
    convert_variables_to_constants,
    extract_sub_graph,
    remove_training_nodes,
    tensor_shape_from_node_def_name,
)
from minitf.importer import import_graph_def
from minitf.proto.graph import GraphDef
from minitf.proto.text import merge_text


def exported(build):
    with tf.Graph().as_default() as graph:
        build()
        return graph.as_graph_def()


def line():
    """a + b -> c, d waits for c."""
    a = tf.placeholder(tf.float32, [2], name="a")
    with tf.device("/job:ps/task:1"):
        c = tf.add(a, tf.constant([1.0, 2.0], name="b"), name="c")
    with tf.control_dependencies([c]):
        tf.identity(a, name="d")


def test_names_devices_and_what_is_returned():
    with tf.device("/job:worker"):
        c, d = import_graph_def(exported(line), return_elements=["c:0", "d"])
    assert (c.name, d.name) == ("import/c:0", "import/d")
    assert c.device == "/job:ps/task:1" and d.device == "/job:worker"
    assert [op.name for op in d.control_inputs] == ["import/c"]
    assert c.shape == [2]
    assert import_graph_def(exported(line)) is None
    names = [op.name for op in tf.get_default_graph().get_operations()]
    assert names[4:] == ["import_1/a", "import_1/b", "import_1/c", "import_1/d"]


def test_without_a_scope():
    import_graph_def(exported(line), name="")
    with pytest.raises(ValueError, match="'a' already exists"):
        import_graph_def(exported(line), name="")
    assert tf.constant(1.0, name="a").name == "a_1:0"


def test_inputs_can_be_replaced():
    x = tf.constant([5.0, 6.0])
    gate = tf.no_op(name="gate")
    c, d = import_graph_def(
        exported(line), {"a": x, "b:0": x, "^c": gate}, return_elements=["c:0", "d"]
    )
    assert list(c.op.inputs) == [x, x] and d.control_inputs == [gate]


def test_what_is_refused():
    graph_def = exported(line)
    for arguments, error, text in (
        (("graph",), TypeError, "graph_def must be a GraphDef proto."),
        ((graph_def, {3: 3}), TypeError, "input_map must be"),
        ((graph_def, None, [3]), TypeError, "return_elements must be"),
        ((graph_def, {"zz:0": tf.constant(1.0)}), ValueError, r"not found in graph_def: \[zz:0\]"),
        ((graph_def, None, ["zz"]), ValueError, "'zz' not found in graph_def"),
        ((graph_def, None, ["a:3"]), ValueError, "has 1 outputs"),
        ((graph_def, {"a:0": tf.constant(1)}), ValueError, "node 'c' .* incompatible with"),
    ):
        with pytest.raises(error, match=text):
            import_graph_def(*arguments)


def damaged(change):
    graph_def = exported(line)
    change(graph_def)
    return graph_def


def node(graph_def, name):
    return next(n for n in graph_def.node if n.name == name)


@pytest.mark.parametrize(
    "change, text",
    [
        (lambda g: node(g, "c").input.append("a"), "node 'c' .* takes 2 inputs, got 3"),
        (lambda g: node(g, "c").input.__setitem__(0, "zz"), "Unknown input node 'zz'"),
        (lambda g: node(g, "c").input.__setitem__(0, "a:1"), "node 'a' has 1 outputs"),
        (lambda g: node(g, "c").input.__setitem__(0, "d"), "has a cycle through"),
        (lambda g: node(g, "a").attr.__delitem__("dtype"), "missing attr 'dtype' from Op"),
        (lambda g: setattr(node(g, "a").attr["zz"], "i", 1), "mentions attr 'zz' not in Op"),
        (lambda g: setattr(node(g, "a"), "device", "/nonsense"), "node 'a'"),
        (lambda g: setattr(node(g, "a"), "name", "b"), "have the same name"),
        (
            lambda g: setattr(node(g, "a").attr["dtype"].func, "name", "f"),
            "the function 'f' is not in the library",
        ),
        (lambda g: setattr(g.versions, "min_consumer", 9999), "min consumer version 9999"),
        (lambda g: setattr(g.versions, "producer", -1), "producer version -1 below min producer"),
        (lambda g: g.versions.bad_consumers.append(134), "disallows consumer version 134"),
        (
            lambda g: node(g, "c").attr["_class"].list.s.append(b"loc:@zz"),
            "colocation to an op that does not exist during import: import/zz in import/c",
        ),
    ],
)
def test_graphs_that_do_not_hold_together(change, text):
    with pytest.raises(ValueError, match=text):
        import_graph_def(damaged(change))


def test_an_unknown_op_is_named():
    with pytest.raises(tf.errors.NotFoundError, match="'Foo' in minitf .node 'a'"):
        import_graph_def(damaged(lambda g: setattr(node(g, "a"), "op", "Foo")))


def test_a_library_of_functions():
    """It does no harm as long as nobody calls it."""

    def add_library(graph_def):
        graph_def.library.function.add(signature={"name": "double"}).node_def.add(op="Add")

    import_graph_def(damaged(add_library))
    graph_def = damaged(add_library)
    node(graph_def, "c").op = "double"
    with pytest.raises(tf.errors.UnimplementedError, match="'c' calls 'double': functions"):
        import_graph_def(graph_def)
    assert GraphDef.FromString(graph_def.SerializeToString()) == graph_def
    assert merge_text(str(graph_def), GraphDef()) == graph_def


def test_defaults_are_filled_in():
    graph_def = exported(lambda: tf.matmul([[1.0]], [[2.0]], name="m"))
    del node(graph_def, "m").attr["transpose_a"]
    (m,) = import_graph_def(graph_def, return_elements=["m"])
    assert m.get_attr("transpose_a") is False


def test_classes_move_with_the_scope():
    graph_def = exported(lambda: tf.get_variable("v", initializer=1.0))
    with tf.device("/cpu:0"):
        v, assign = import_graph_def(graph_def, return_elements=["v", "v/Assign"])
    assert assign.colocation_groups() == [b"loc:@import/v"]
    assert assign.device == v.device == "/device:CPU:0"


def test_a_loop_inside_a_loop_runs():
    def nested():
        def outer(i, total):
            _, inner = tf.while_loop(lambda j, s: j < i, lambda j, s: (j + 1, s + j), [0, 0])
            return i + 1, total + inner

        tf.while_loop(lambda i, t: i < 5, outer, [0, 0], name="loop")[1]

    graph_def = exported(nested)
    (total,) = import_graph_def(graph_def, return_elements=["loop/Exit_1:0"])
    with tf.Session() as session:
        assert session.run(total) == sum(sum(range(i)) for i in range(5))


# ---- graph_util


def test_extract_sub_graph():
    graph_def = exported(line)
    names = [n.name for n in extract_sub_graph(graph_def, ["c"]).node]
    assert names == ["a", "b", "c"]
    assert len(extract_sub_graph(graph_def, ["d"]).node) == 4
    with pytest.raises(AssertionError, match="zz is not in graph"):
        extract_sub_graph(graph_def, ["zz"])
    with pytest.raises(TypeError):
        extract_sub_graph(graph_def, "c")


def test_freezing():
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = tf.get_variable("w", initializer=np.ones((3, 2), np.float32))
    r = tf.get_variable("r", initializer=np.arange(6.0, dtype=np.float32).reshape(3, 2),
                        use_resource=True)  # fmt: skip
    y = tf.matmul(x, w) + r.sparse_read([1])
    y = tf.cond(tf.reduce_sum(x) > 0, lambda: y + r[0], lambda: y - 1)
    tf.identity(y, name="out")
    feed = np.ones((2, 3), np.float32)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        want = session.run("out:0", {x: feed})
        graph_def = tf.get_default_graph().as_graph_def(add_shapes=True)
        frozen = convert_variables_to_constants(session, graph_def, ["out"])
        some = convert_variables_to_constants(session, graph_def, ["out"], ["w"])
    assert {n.op for n in some.node} >= {"VarHandleOp", "ResourceGather"}
    for small in (frozen, remove_training_nodes(frozen, ["out"])):
        assert not {n.op for n in small.node} & {"VariableV2", "VarHandleOp", "ReadVariableOp"}
        with tf.Graph().as_default(), tf.Session() as session:
            x, out = import_graph_def(small, return_elements=["x:0", "out:0"])
            np.testing.assert_array_equal(session.run(out, {x: feed}), want)
    assert tensor_shape_from_node_def_name(tf.get_default_graph(), "w") == [3, 2]


def test_training_nodes_go():
    def build():
        a = tf.placeholder(tf.float32, name="a")
        b = tf.identity(tf.check_numerics(a, "bad"), name="b")
        with tf.control_dependencies([tf.identity(a, name="gate")]):
            tf.negative(b, name="out")

    small = remove_training_nodes(exported(build))
    assert [n.name for n in small.node] == ["a", "gate", "out"]
