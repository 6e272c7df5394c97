"""Parts of graphs as meta graphs: names without their scope, inputs from elsewhere, savers."""

from __future__ import annotations

import pytest

import minitf as tf
from minitf.proto.meta_graph import MetaGraphDef


def two_layers():
    """A graph of two scopes, the second of which uses the first; x feeds both."""
    x = tf.placeholder(tf.float32, [2], name="x")
    with tf.variable_scope("one"):
        w = tf.get_variable("w", initializer=[1.0, 2.0])
        first = tf.multiply(x, w, name="out")
    with tf.variable_scope("one_more"):
        w = tf.get_variable("w", initializer=[3.0, 4.0], use_resource=True)
        tf.identity(first * w + first * x, name="out")
        with tf.control_dependencies([first]):
            tf.no_op(name="after")


def nodes(made):
    return {node.name: node for node in made.graph_def.node}


def unbound(made):
    return sorted(made.collection_def["unbound_inputs"].bytes_list.value)


def test_a_part_is_named_without_its_scope():
    two_layers()
    with tf.device("/cpu:0"), tf.name_scope("one/"):
        tf.add_to_collection("marked", tf.identity(tf.global_variables()[0], name="twin"))
    tf.add_to_collection("marked", tf.get_default_graph().get_tensor_by_name("x:0"))
    made = tf.train.export_meta_graph(export_scope="one")
    assert sorted(nodes(made)) == [
        "out", "twin", "w", "w/Assign", "w/initial_value", "w/read"
    ]  # fmt: skip
    assert list(nodes(made)["out"].input) == ["$unbound_inputs_x", "w/read"]
    assert unbound(made) == [b"$unbound_inputs_x"]
    assert nodes(made)["w/read"].attr["_class"].list.s == [b"loc:@w"]
    assert nodes(made)["twin"].device == "/device:CPU:0"
    assert list(made.collection_def["marked"].node_list.value) == ["twin:0"]
    variables = made.collection_def["variables"].bytes_list.value
    assert len(variables) == 1 and b"one" not in variables[0]
    assert tf.get_default_graph().get_collection("unbound_inputs") == []


def test_inputs_from_elsewhere_are_bound_on_import():
    two_layers()
    made = tf.train.export_meta_graph(export_scope="one_more/", clear_devices=True)
    names = [b"$unbound_inputs_one/out", b"$unbound_inputs_x", b"^$unbound_inputs_one/out"]
    assert unbound(made) == names
    with tf.Graph().as_default(), pytest.raises(ValueError, match="unbound inputs: .*one/out"):
        tf.train.import_meta_graph(made)
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.constant([1.0, 10.0])
        bound = dict.fromkeys(["$unbound_inputs_one/out", "$unbound_inputs_x"], x)
        bound["^$unbound_inputs_one/out"] = x.op
        tf.train.import_meta_graph(made, import_scope="new", input_map=bound)
        assert [v.op.name for v in tf.global_variables()] == ["new/w"]
        session.run(tf.global_variables_initializer())
        assert session.run("new/out:0").tolist() == [4.0, 140.0]
        assert graph.get_operation_by_name("new/after").control_inputs == [x.op]


def test_a_part_of_a_given_graph_def():
    two_layers()
    given = tf.get_default_graph().as_graph_def()
    made = tf.train.export_meta_graph(graph_def=given, export_scope="one", collection_list=[])
    assert "out" in nodes(made) and "_output_shapes" not in nodes(made)["out"].attr
    assert list(made.collection_def) == ["unbound_inputs"]


def test_parts_hold_all_kinds_of_collections(tmp_path):
    with tf.name_scope("a"):
        queue = tf.FIFOQueue(3, tf.int32, [])
        runner = tf.train.QueueRunner(queue, [queue.enqueue([7])])
        tf.train.add_queue_runner(runner)
        tf.identity(queue.dequeue(), name="next")
    with tf.variable_scope("a", auxiliary_name_scope=False):
        tf.get_variable("v", [3], partitioner=tf.fixed_size_partitioner(2))
    with tf.name_scope("a/"):
        saver = tf.train.Saver()
    tf.add_to_collection(tf.GraphKeys.SAVERS, saver)
    with tf.name_scope("b"):
        other = tf.FIFOQueue(3, tf.int32, [])
        tf.train.add_queue_runner(tf.train.QueueRunner(other, [other.enqueue([8])]))
        tf.add_to_collection(tf.GraphKeys.SAVERS, tf.train.Saver(name="b/save"))
    made = tf.train.export_meta_graph(export_scope="a")
    assert len(made.collection_def["queue_runners"].bytes_list.value) == 1
    assert len(made.collection_def["savers"].bytes_list.value) == 1
    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.import_meta_graph(made, import_scope="c")
        (found,) = tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)
        assert found.name == "c/fifo_queue"
        session.run(found.enqueue_ops[0])
        assert session.run("c/next:0") == 7
        slices = [v._get_save_slice_info() for v in tf.global_variables()]
        assert [s.full_name for s in slices] == ["c/v", "c/v"]
        (there,) = tf.get_collection(tf.GraphKeys.SAVERS)
        session.run(tf.global_variables_initializer())
        there.save(session, str(tmp_path / "m"), write_meta_graph=False)


def test_messages_of_variables_and_runners():
    with tf.variable_scope("a"):
        v = tf.get_variable("v", initializer=3.0)
        parts = tf.get_variable("p", [4], partitioner=tf.fixed_size_partitioner(2))
    made = v.to_proto("a")
    assert (made.variable_name, made.snapshot_name) == ("v:0", "v/read:0")
    assert v.to_proto("b") is v.to_proto("a/v/read") is None
    again = tf.Variable.from_proto(made, "a")
    assert again.op is v.op and again.initializer is v.initializer
    assert tf.Variable(variable_def=v.to_proto()).op is v.op
    with pytest.raises(ValueError, match="mutually exclusive"):
        tf.Variable(1.0, variable_def=made)
    with pytest.raises(KeyError, match="b/v/Assign"):
        tf.Variable.from_proto(made, "b")
    info = list(parts)[1]._get_save_slice_info()
    told = info.to_proto("a")
    assert (told.full_name, told.var_offset, info.to_proto("b")) == ("p", [2], None)
    assert tf.Variable.SaveSliceInfo(save_slice_info_def=told, import_scope="a").spec == info.spec
    with tf.name_scope("q"):
        queue = tf.FIFOQueue(1, tf.int32)
        runner = tf.train.QueueRunner(
            queue, [queue.enqueue(1)], queue_closed_exception_types=(tf.errors.CancelledError,)
        )
    assert runner.to_proto("a") is None
    again = tf.train.QueueRunner.from_proto(runner.to_proto("q"), "q")
    assert again.enqueue_ops == runner.enqueue_ops and again.close_op is runner.close_op
    assert again.queue_closed_exception_types == (tf.errors.CancelledError,)
    with pytest.raises(ValueError, match="mutually exclusive"):
        tf.train.QueueRunner(queue, queue_runner_def=runner.to_proto())


def test_extraneous_savers_are_cleared():
    tf.get_variable("v", initializer=1.0)
    for _ in range(2):
        tf.add_to_collection(tf.GraphKeys.SAVERS, tf.train.Saver())
    saver = tf.train.Saver()
    made = saver.export_meta_graph(clear_extraneous_savers=True)
    scopes = {name.partition("/")[0] for name in nodes(made)}
    assert scopes == {"v", "save_2"}
    (left,) = made.collection_def["savers"].bytes_list.value
    assert tf.train.SaverDef.FromString(left) == saver.saver_def
    made = tf.train.export_meta_graph(clear_extraneous_savers=True)
    assert {name.partition("/")[0] for name in nodes(made)} == {"v"}
    assert "savers" not in made.collection_def


def test_a_graph_of_an_old_version_says_by_collection_what_is_trainable():
    tf.get_variable("v", initializer=1.0)
    tf.get_variable("fixed", initializer=1.0, trainable=False)
    made = tf.train.export_meta_graph()
    assert made.meta_info_def.tensorflow_version == tf.__version__
    made.meta_info_def.tensorflow_version = "1.8.0-rc1"
    for key in ("variables", "trainable_variables"):
        values = made.collection_def[key].bytes_list.value
        values[:] = [v.replace(b"\x38\x01", b"") for v in values]  # trainable: true
    with tf.Graph().as_default():
        tf.train.import_meta_graph(made)
        assert [v.trainable for v in tf.global_variables()] == [True, False]


def test_import_inside_a_scope():
    tf.get_variable("v", initializer=2.0)
    tf.train.Saver()
    made = tf.train.Saver().export_meta_graph()
    with tf.Graph().as_default():
        with tf.name_scope("a"):
            saver = tf.train.import_meta_graph(made)
        assert [v.op.name for v in tf.global_variables()] == ["a/v"]
        assert saver.saver_def.restore_op_name == "a/save_1/restore_all"


PROGRAM = """
import sys
import {module} as tf
with tf.Graph().as_default():
    x = tf.placeholder(tf.float32, [2], name="x")
    with tf.variable_scope("part"):
        w = tf.get_variable("w", initializer=[1.0, 2.0])
        parts = tf.get_variable("p", [3], partitioner=tf.fixed_size_partitioner(2))
        y = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a * w), [0, x])[1]
        tf.add_to_collection("out", tf.identity(y, name="out"))
        queue = tf.train.range_input_producer(3, shuffle=False)
    tf.train.export_meta_graph("{path}", export_scope="part")
"""

RUN = """
import sys
import {module} as tf
with tf.Graph().as_default(), tf.Session() as session:
    x = tf.constant([3.0, 4.0])
    tf.train.import_meta_graph("{path}", import_scope="a", input_map={{"$unbound_inputs_x": x}})
    session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    out = tf.get_collection("out")
    grads = tf.gradients(out, tf.trainable_variables("a/w"))
    print([v.op.name for v in tf.global_variables()])
    print([v.tolist() for v in session.run(out + grads)])
    print([r.name for r in tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)])
"""
SAID = [
    "['a/w', 'a/p/part_0', 'a/p/part_1']",
    "[[3.0, 16.0], [6.0, 16.0]]",
    "['a/input_producer']",
]


def described(path):
    with open(path, "rb") as file:
        made = MetaGraphDef.FromString(file.read())
    by_name = {
        n.name: (n.op, [t.removesuffix(":0") for t in n.input], str(n.attr["_class"]))
        for n in made.graph_def.node
    }
    collections = {k: str(made.collection_def[k]) for k in made.collection_def}
    return by_name, collections


@pytest.mark.oracle
def test_parts_are_exchanged_with_tensorflow(tmp_path, oracle, capsys):
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    exec(PROGRAM.format(module="minitf", path=ours), {})
    oracle(PROGRAM.format(module="tensorflow", path=theirs))
    assert described(ours) == described(theirs)
    exec(RUN.format(module="minitf", path=theirs), {})
    assert capsys.readouterr().out.splitlines() == SAID
    assert oracle(RUN.format(module="tensorflow", path=ours)).splitlines()[-3:] == SAID


def test_parts_are_exchanged_among_ourselves(tmp_path, capsys):
    exec(PROGRAM.format(module="minitf", path=tmp_path / "m"), {})
    exec(RUN.format(module="minitf", path=tmp_path / "m"), {})
    assert capsys.readouterr().out.splitlines() == SAID
