"""tf.summary: the messages as TensorFlow 1.15 makes them, and event files."""

from __future__ import annotations

import json

import numpy as np
import pytest

import minitf as tf
from minitf import summary
from minitf.proto.meta_graph import MetaGraphDef


def events(directory):
    (file,) = directory.iterdir()
    return list(tf.train.summary_iterator(str(file)))


def test_a_histogram():
    values = np.array([-3.0, 0.0, 0.0, 1e-13, 0.25, 0.26, 7.0])
    with tf.Session() as session:
        data = session.run(summary.histogram("h", values))
        none = session.run(summary.histogram("none", tf.zeros([0])))
    histo = summary.Summary.FromString(data).value[0].histo
    assert (histo.min, histo.max, histo.num) == (-3.0, 7.0, 7.0)
    assert histo.sum == pytest.approx(values.sum(), rel=1e-6)
    assert histo.sum_squares == pytest.approx((values * values).sum(), rel=1e-6)
    counts = dict(zip(histo.bucket_limit, histo.bucket))
    assert sum(counts.values()) == 7
    assert max(counts) == np.finfo(float).max  # the last bucket is always told
    assert counts[1e-12] == 3  # zeros, and what is less than the first limit
    empty = summary.Summary.FromString(none).value[0].histo
    assert (empty.num, list(empty.bucket)) == (0, [0])


def test_tags():
    with tf.name_scope("outer"):
        one = summary.scalar("a b", 1.0)
        two = summary.scalar("a b", 2.0, family="f")
    with tf.Session() as session:
        got = session.run([one, two])
    tags = [summary.Summary.FromString(g).value[0].tag for g in got]
    assert tags == ["outer/a_b", "f/outer/f/a_b"]
    assert tf.get_collection(tf.GraphKeys.SUMMARIES) == [one, two]


def test_merge_all_takes_a_collection_and_a_scope():
    assert summary.merge_all() is None
    with tf.name_scope("a"):
        summary.scalar("x", 1.0)
    summary.scalar("y", 2.0, collections=["mine"])
    summary.scalar("z", 3.0)
    with tf.Session() as session:
        for merged, want in (
            (summary.merge_all(), ["a/x", "z"]),
            (summary.merge_all("mine"), ["y"]),
            (summary.merge_all(scope="a"), ["a/x"]),
        ):
            found = summary.Summary.FromString(session.run(merged))
            assert [v.tag for v in found.value] == want


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda: summary.histogram("h", [1.0, np.nan]), "Nan in summary histogram for: h"),
        (lambda: summary.histogram("h", [np.inf]), "Infinity in summary histogram for: h"),
        (lambda: summary.scalar("s", [1.0, 2.0]), "tags and values not the same shape"),
        (lambda: summary.merge([summary.scalar("s", 1.0)] * 2), "Duplicate tag s found"),
        (lambda: summary.merge([tf.constant("no summary")]), "Could not parse"),
    ],
)
def test_values_that_cannot_be(make, text):
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=text):
        session.run(make())


def test_an_event_file(tmp_path):
    made = summary.scalar("s", 2.5)
    with tf.Session() as session, summary.FileWriter(str(tmp_path), session.graph) as writer:
        writer.add_summary(session.run(made), 7)
    writer.reopen()
    start, graph, meta, value = events(tmp_path)
    assert start.file_version == "brain.Event:2" and start.wall_time > 1e9
    assert tf.GraphDef.FromString(graph.graph_def).node[-1].op == "ScalarSummary"
    assert MetaGraphDef.FromString(meta.meta_graph_def).graph_def.node
    assert (value.step, value.summary.value[0].simple_value) == (7, 2.5)


def test_a_closed_writer_drops_events_with_a_warning(tmp_path):
    writer = summary.FileWriter(str(tmp_path))
    writer.close()
    with pytest.warns(UserWarning, match="closed FileWriter"):
        writer.add_session_log(summary.SessionLog(status=summary.SessionLog.STOP))
    writer.reopen()
    writer.add_session_log(summary.SessionLog(status=summary.SessionLog.START), 3)
    writer.close()
    assert [e.session_log.status for e in events(tmp_path)] == [0, summary.SessionLog.START]


def test_writers_of_one_second_have_files_of_their_own(tmp_path):
    for i in range(3):
        with summary.FileWriter(str(tmp_path), filename_suffix=".x") as writer:
            writer.add_summary(summary.Summary(value=[dict(tag="t", simple_value=i)]))
    files = list(tmp_path.iterdir())
    assert len(files) == 3 and all(f.name.endswith(".x") for f in files)


def test_what_a_writer_refuses(tmp_path):
    writer = summary.FileWriter(str(tmp_path))
    with pytest.raises(TypeError, match="must be an instance of `Graph`"):
        writer.add_graph("graph")
    with pytest.raises(TypeError, match="must be type MetaGraphDef"):
        writer.add_meta_graph("graph")
    with pytest.raises(ValueError, match="no summary|cut off|not known"):
        writer.add_summary(b"no summary")
    assert not list(tmp_path.iterdir())
    (tmp_path / "file").touch()
    with pytest.raises(tf.errors.AlreadyExistsError):
        summary.FileWriter(str(tmp_path / "file"))


def test_one_writer_for_a_directory(tmp_path):
    cache = summary.FileWriterCache
    assert cache.get(str(tmp_path)) is cache.get(str(tmp_path))
    cache.clear()
    assert len(events(tmp_path)) == 3


def test_a_file_of_another_kind(tmp_path):
    from minitf_runtime.storage.records import record_bytes

    (tmp_path / "f").write_bytes(record_bytes(b"\xff\xff\xff"))
    with pytest.raises(tf.errors.DataLossError, match="record 0 is no event"):
        events(tmp_path)


@pytest.mark.oracle
def test_tensorboard_reads_our_events(tmp_path, oracle):
    """By its own loader: scalars, histograms, pictures, texts, and the graph with its devices."""
    x = tf.constant(np.linspace(0, 2, 8, dtype=np.float32).reshape(1, 2, 4, 1))
    made = [summary.scalar("s", tf.reduce_sum(x)), summary.histogram("h", x)]
    made += [summary.image("i", x, 1), summary.text("t", tf.constant("**x**"))]
    with tf.Session() as session:
        data = session.run(summary.merge(made))
    with tf.device("/job:ps/task:0"):
        tf.constant(1.0, name="far")
    with summary.FileWriter(str(tmp_path), tf.get_default_graph()) as writer:
        for step in (1, 2):
            writer.add_summary(data, step)
    said = oracle(f"""
        import json
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
        found = EventAccumulator({str(tmp_path)!r})
        found.Reload()
        print(json.dumps([
            {{kind: tags for kind, tags in found.Tags().items() if tags}},
            [[e.step, e.value] for e in found.Scalars("s")],
            found.Histograms("h")[-1].histogram_value.num,
            [[e.width, e.height, e.encoded_image_string[1:4].decode()]
             for e in found.Images("i/image")],
            [e.tensor_proto.string_val[0].decode() for e in found.Tensors("t")],
            {{n.name: n.device for n in found.Graph().node}}["far"],
        ]))
    """)
    tags, scalars, count, images, texts, device = json.loads(said.splitlines()[-1])
    assert tags == {
        "scalars": ["s"], "histograms": ["h"], "distributions": ["h"], "images": ["i/image"],
        "tensors": ["t"], "graph": True, "meta_graph": True,
    }  # fmt: skip
    assert scalars == [[1, 8.0], [2, 8.0]] and count == 8.0
    assert images == [[4, 2, "PNG"]] * 2 and texts == ["**x**"] * 2
    assert device == "/job:ps/task:0"


@pytest.mark.oracle
def test_tensorflow_reads_our_events(tmp_path, oracle):
    x = tf.placeholder(tf.float32, name="x")
    merged = summary.merge([summary.scalar("s", tf.reduce_sum(x)), summary.histogram("h", x)])
    values = np.linspace(-2, 3, 50, dtype=np.float32)
    with tf.Session() as session, summary.FileWriter(str(tmp_path), session.graph) as writer:
        data = session.run(merged, {x: values})
        writer.add_summary(data, 5)
    (file,) = tmp_path.iterdir()
    said = oracle(f"""
        import numpy as np
        import tensorflow as tf
        x = tf.placeholder(tf.float32, name="x")
        merged = tf.summary.merge([tf.summary.scalar("s", tf.reduce_sum(x)),
                                   tf.summary.histogram("h", x)])
        data = tf.Session().run(merged, {{x: np.linspace(-2, 3, 50, dtype=np.float32)}})
        events = list(tf.train.summary_iterator({str(file)!r}))
        print([e.WhichOneof("what") for e in events], events[-1].step)
        print(events[-1].summary.SerializeToString() == data)
    """)
    kinds = ["file_version", "graph_def", "meta_graph_def", "summary"]
    assert said.splitlines()[-2:] == [f"{kinds} 5", "True"]
