"""Meta graphs: what they keep of a graph, and files that are damaged or foreign."""

from __future__ import annotations

import errno

import numpy as np
import pytest

import minitf as tf
from minitf.proto.graph import GraphDef
from minitf.proto.meta_graph import MetaGraphDef
from minitf.proto.text import merge_text


def again(meta, **options):
    """Imports into a new graph; gives (graph, what the import gave)."""
    graph = tf.Graph()
    with graph.as_default():
        return graph, tf.train.import_meta_graph(meta, **options)


def test_collections(tmp_path):
    v = tf.get_variable("v", [3], partitioner=tf.fixed_size_partitioner(2))
    r = tf.get_variable("r", initializer=2.0, use_resource=True, trainable=False)
    local = tf.Variable(1, False, [tf.GraphKeys.LOCAL_VARIABLES], name="local")
    step = tf.train.get_or_create_global_step()
    for key, value in (("numbers", 3), ("reals", 0.5), ("words", "w"), ("ops", v.as_tensor()),
                       ("objects", object())):  # fmt: skip
        tf.add_to_collection(key, value)
    made = tf.train.export_meta_graph()
    assert "objects" not in made.collection_def
    graph, saver = again(made)
    assert saver is not None  # the default one
    with graph.as_default():
        names = [x.name for x in tf.global_variables()]
        assert names == [x.name for x in [*v, r, step]]
        assert [x.name for x in tf.trainable_variables()] == [x.name for x in v]
        assert all(x in tf.global_variables() for x in tf.trainable_variables())
        assert tf.local_variables()[0].name == local.name
        assert tf.train.get_global_step() in tf.global_variables()
        assert [tf.get_collection(k) for k in ("numbers", "reals", "words")] == [[3], [0.5], ["w"]]
        assert tf.get_collection("ops")[0].name == "v:0"
        part = tf.global_variables()[1]
        assert part._get_save_slice_info().spec == "3 2,1"
        found = tf.global_variables()[2]
        assert (found.shape, found.dtype, found.trainable) == ((), tf.float32, False)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(found.assign_add(1.0))
            assert session.run(found) == 3.0


def test_below_a_scope(tmp_path):
    tf.get_variable("v", initializer=np.ones(2, np.float32))
    tf.add_to_collection("twice", tf.multiply(tf.global_variables()[0], 2.0, name="twice"))
    saver = tf.train.Saver()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = saver.save(session, str(tmp_path / "m"))
    graph, (saver, elements) = again(path + ".meta", import_scope="a", return_elements=["twice:0"])
    with graph.as_default(), tf.Session() as session:
        assert [v.op.name for v in tf.global_variables()] == ["a/v"]
        assert tf.get_collection("twice") == elements
        assert saver.saver_def.restore_op_name == "a/save/restore_all"
        assert saver.to_proto("a").restore_op_name == "save/restore_all"
        saver.restore(session, path)
        assert session.run(elements[0]).tolist() == [2.0, 2.0]


@pytest.mark.parametrize("as_text", [False, True])
def test_devices_are_kept_or_cleared(tmp_path, as_text):
    with tf.device("/job:ps/task:0"):
        v = tf.Variable(4.0, name="v")
        tf.add_to_collection("out", tf.multiply(v, 2.0))
    file = str(tmp_path / "m.meta")
    made = tf.train.export_meta_graph(file, as_text=as_text)
    graph, _ = again(file)
    assert graph.get_operation_by_name("v").device == "/job:ps/task:0"
    with graph.as_default(), tf.Session() as session:
        init = tf.global_variables_initializer()
        pytest.raises(tf.errors.InvalidArgumentError, session.run, init)
    graph, _ = again(made, clear_devices=True)
    with graph.as_default(), tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(tf.get_collection("out")) == [8.0]
    assert made.graph_def.node[-1].device  # the given message is left as it is


def test_a_queue_runner_goes_on(tmp_path):
    queue = tf.train.range_input_producer(3, num_epochs=1, shuffle=False)
    tf.add_to_collection("next", queue.dequeue())
    graph, _ = again(tf.train.export_meta_graph())
    with graph.as_default(), tf.Session() as session:
        session.run(tf.local_variables_initializer())
        (runner,) = tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)
        assert runner.name == queue.name
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coord)
        assert [session.run(tf.get_collection("next"))[0] for _ in range(3)] == [0, 1, 2]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(tf.get_collection("next"))
        coord.request_stop()
        coord.join(threads, stop_grace_period_secs=5)


def test_default_attributes_can_be_left_out():
    tf.matmul([[1.0]], [[2.0]], transpose_b=True, name="m")
    made = tf.train.export_meta_graph(strip_default_attrs=True)
    m = made.graph_def.node[-1]
    assert "transpose_a" not in m.attr and m.attr["transpose_b"].b
    graph, saver = again(made)
    assert saver is None
    assert graph.get_operation_by_name("m").get_attr("transpose_a") is False


def test_writing_a_graph(tmp_path):
    tf.constant([1.0, 2.0], name="c")
    graph = tf.get_default_graph()
    text = tf.train.write_graph(graph, str(tmp_path / "new"), "g.pbtxt")
    binary = tf.train.write_graph(graph.as_graph_def(), str(tmp_path / "new"), "g.pb", False)
    with open(text) as t, open(binary, "rb") as b:
        assert merge_text(t.read(), GraphDef()) == GraphDef.FromString(b.read())


@pytest.mark.parametrize(
    "data, text",
    [
        (b"no graph at all", "line 1"),
        (b"\x89PNG\r\n\x1a\n\xff\xff", "it holds no graph"),
        (b"\x89PNG\r\n\x1a\n", "field 1281 .* cut off"),
        (b"", "it holds no graph"),
        ("cut", "MetaGraphDef|cut off"),
        (b'graph_def {\n  node { name: "a"', "line 2, column 19: the text is cut off"),
        (
            b'graph_def {\n  node { nome: "a" } }',
            'line 2, column 10: message type "NodeDef" has no field',
        ),
    ],
)
def test_files_that_cannot_be_read(tmp_path, data, text):
    tf.constant(1.0)
    file = tmp_path / "m.meta"
    if data == "cut":
        data = tf.train.export_meta_graph().SerializeToString()[:-3]
    file.write_bytes(data)
    with pytest.raises(OSError, match=f"Cannot parse file {file}: .*({text})"):
        tf.train.import_meta_graph(str(file))
    with pytest.raises(OSError, match="File .*none does not exist"):
        tf.train.import_meta_graph(str(tmp_path / "none"))
    with pytest.raises(OSError, match="Cannot read file"):
        tf.train.import_meta_graph(str(tmp_path))


def test_collections_that_do_not_fit_the_graph():
    made = MetaGraphDef()
    made.collection_def["variables"].bytes_list.value.append(b"\x0a\x03v:0")
    with pytest.raises(ValueError, match="collection 'variables' of the meta graph"):
        again(made)
    made.collection_def["variables"].bytes_list.value[:] = [b"\xff"]
    with pytest.raises(ValueError, match="collection 'variables' of the meta graph"):
        again(made)
    made = MetaGraphDef()
    made.collection_def["unbound_inputs"].bytes_list.value.append(b"x")
    with pytest.raises(ValueError, match="unbound inputs: x"):
        again(made)


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    file = tmp_path / "m.meta"
    file.write_bytes(b"old")

    def fail(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(tf.errors.ResourceExhaustedError, match=f"{file}; No space left"):
        tf.train.export_meta_graph(str(file))
    assert file.read_bytes() == b"old" and len(list(tmp_path.iterdir())) == 1
