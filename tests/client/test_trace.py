"""RunMetadata.step_stats of a session in this process, and Timeline against the real one's.

tests/data/trace: a RunMetadata of TensorFlow 1.15.5, its text, and what its Timeline wrote.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import minitf as tf
from minitf.python.client import timeline

DATA = Path(__file__).parents[1] / "data" / "trace"
DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"
CONFIG = bytes.fromhex(  # of TensorFlow 1.15.5
    "0a070a0343505510020a070a034750551000100322072f6a6f623a707322122f6a6f623a776f726b65722f7461736b"
    "3a312804321909000000000000d03f20014a0c0a0a0a080000803f0000204038014001521810011a0b18ffffffffff"
    "ffffffff0152072a0210039801015888276a02180172180a160a027073120708001203613a31120708011203623a32"
    "78018201031a0178"
)


def recorded():
    return tf.RunMetadata.FromString((DATA / "run_metadata.pb").read_bytes())


def traced(sess, fetches, feed_dict=None, level=tf.RunOptions.FULL_TRACE):
    seen = tf.RunMetadata()
    options = tf.RunOptions(trace_level=level)
    values = sess.run(fetches, feed_dict, options=options, run_metadata=seen)
    return values, seen.step_stats


def linear():
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    w = tf.Variable(tf.ones([3, 4]), name="w")
    loss = tf.reduce_sum(tf.matmul(x, w, name="mm"), name="s")
    return x, w, loss, tf.train.GradientDescentOptimizer(0.1).minimize(loss)


def labels(stats):
    return [n.timeline_label for d in stats.dev_stats for n in d.node_stats]


# ---- messages


def test_metadata_of_tensorflow_reads_and_writes_the_same():
    seen = recorded()
    assert str(seen) == (DATA / "run_metadata.txt").read_text()
    assert tf.RunMetadata.FromString(seen.SerializeToString()) == seen


def test_config_of_tensorflow_reads_and_writes_the_same():
    config = tf.ConfigProto.FromString(CONFIG)
    assert (config.device_count["CPU"], config.operation_timeout_in_ms) == (2, 5000)
    assert list(config.device_filters) == ["/job:ps", "/job:worker/task:1"]
    assert config.gpu_options.per_process_gpu_memory_fraction == 0.25
    assert config.graph_options.enable_recv_scheduling
    assert config.graph_options.optimizer_options.opt_level == -1
    assert dict(config.cluster_def.job[0].tasks) == {0: "a:1", 1: "b:2"}
    assert tf.ConfigProto.FromString(config.SerializeToString()) == config


def test_run_options_have_a_binary_form():
    options = tf.RunOptions(trace_level=3, timeout_in_ms=7, output_partition_graphs=True)
    assert options.SerializeToString() == bytes.fromhex("080310072801")


# ---- what a step tells


def test_every_op_of_the_step_is_there_with_the_label_of_tensorflow():
    x, w, loss, train = linear()
    with tf.Session() as sess:
        sess.run(w.initializer)
        values, stats = traced(sess, [loss, train], {x: np.ones([2, 3])})
    assert values[0] == 24
    assert [d.device for d in stats.dev_stats] == [DEVICE]
    seen = set(labels(stats))
    assert {
        "_arg_x_0_0 = _Arg()",
        "w = VariableV2()",
        "w/read = Identity(w)",
        "mm = MatMul(_arg_x_0_0, w/read)",
        "s = Sum(mm, Const)",
        "GradientDescent = NoOp(^GradientDescent/update_w/ApplyGradientDescent)",
        "_retval_s_0_0 = _Retval(s)",
    } <= seen
    real = {n.timeline_label for n in recorded().step_stats.dev_stats[1].node_stats}
    shared = {text for text in real if text.startswith(("mm ", "s ", "w", "_arg", "_retval"))}
    assert len(shared) == 6 and shared <= seen


def test_outputs_are_described():
    x, w, loss, _ = linear()
    with tf.Session() as sess:
        sess.run(w.initializer)
        _, stats = traced(sess, loss, {x: np.ones([2, 3])})
    nodes = {n.node_name: n for n in stats.dev_stats[0].node_stats}
    for name, shape, nbytes in (("mm", [2, 4], 32), ("w", [3, 4], 48), ("s", [], 4)):
        (output,) = nodes[name].output
        described = output.tensor_description
        assert described.dtype == tf.float32.as_datatype_enum
        assert [d.size for d in described.shape.dim] == shape
        assert described.allocation_description.requested_bytes == nbytes


def test_times_follow_one_another():
    x, w, loss, train = linear()
    with tf.Session() as sess:
        sess.run(w.initializer)
        _, stats = traced(sess, [loss, train], {x: np.ones([2, 3])})
    end = 0
    for n in stats.dev_stats[0].node_stats:
        assert n.all_start_micros >= end
        assert n.op_start_rel_micros <= n.op_end_rel_micros <= n.all_end_rel_micros
        end = n.all_start_micros + n.all_end_rel_micros


@pytest.mark.parametrize("level", ["SOFTWARE_TRACE", "HARDWARE_TRACE", "FULL_TRACE"])
def test_each_level_traces(level):
    with tf.Session() as sess:
        _, stats = traced(sess, tf.constant(1) + 1, level=getattr(tf.RunOptions, level))
    assert "add = AddV2(Const, add/y)" in labels(stats)


def test_a_loop_is_told_once_for_each_iteration():
    loop = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)])
    with tf.Session() as sess:
        value, stats = traced(sess, loop)
    names = [n.node_name for n in stats.dev_stats[0].node_stats]
    assert value == 3
    assert (names.count("while/Less"), names.count("while/add")) == (4, 3)


def test_a_branch_not_taken_is_not_told():
    x = tf.placeholder(tf.bool, [])
    branch = tf.cond(x, lambda: tf.constant(1) * 2, lambda: tf.constant(1) * 3)
    with tf.Session() as sess:
        value, stats = traced(sess, branch, {x: True})
    names = [n.node_name for n in stats.dev_stats[0].node_stats]
    assert value == 2
    assert "cond/mul" in names and "cond/mul_1" not in names


def test_nothing_is_told_unless_asked():
    seen = tf.RunMetadata()
    total = tf.constant(1) + 1
    with tf.Session() as sess:
        sess.run(total, run_metadata=seen)
        assert not seen.HasField("step_stats")
        sess.run(total, options=tf.RunOptions(trace_level=3))
        traced(sess, total)
        sess.run(total, options=tf.RunOptions(), run_metadata=seen)
        assert not seen.HasField("step_stats")


def test_metadata_tells_of_the_last_run_only():
    seen = tf.RunMetadata()
    options = tf.RunOptions(trace_level=3, output_partition_graphs=True)
    a, b = tf.constant(1, name="a"), tf.constant(2, name="b")
    with tf.Session() as sess:
        sess.run(a, options=options, run_metadata=seen)
        sess.run(b, options=options, run_metadata=seen)
    assert (len(seen.partition_graphs), len(seen.step_stats.dev_stats)) == (1, 1)
    assert "b = Const()" in labels(seen.step_stats)


def test_state_is_that_of_the_other_steps():
    v = tf.Variable(0)
    random = tf.random_uniform([2], seed=1)
    with tf.Session() as sess:
        sess.run(v.initializer)
        first = sess.run(random)
        sess.run(tf.assign_add(v, 1))
        second, _ = traced(sess, random)
        value, _ = traced(sess, tf.assign_add(v, 1))
    assert value == 2
    assert not np.array_equal(first, second)


def test_a_failing_step_names_the_op():
    x = tf.placeholder(tf.float32)
    bad = tf.add(x, tf.ones([3]), name="bad")
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="bad") as e:
        traced(sess, bad, {x: np.ones(2)})
    assert "Incompatible shapes: [2] vs. [3]" in str(e.value)
    assert e.value.op.name == "bad"


# ---- Chrome traces


def events(stats, **how):
    trace = json.loads(timeline.Timeline(stats).generate_chrome_trace_format(**how))
    return trace["traceEvents"]


def rows(found):
    return {e["pid"]: e["args"]["name"] for e in found if e["ph"] == "M"}


def without_lane(found):
    """The events that do not depend on the numbers of rows, lanes and arrows."""
    names = rows(found)
    told = ("ph", "cat", "name", "ts", "dur", "args")
    return sorted(
        json.dumps([names[e["pid"]], *(e.get(k) for k in told)], sort_keys=True)
        for e in found if e["ph"] in "XNO"
    )  # fmt: skip


def test_the_trace_of_tensorflows_statistics_is_the_one_of_tensorflow():
    real = json.loads((DATA / "timeline.json").read_text())["traceEvents"]
    ours = events(recorded().step_stats, show_memory=True)
    assert rows(ours) == rows(real)
    assert without_lane(ours) == without_lane(real)
    peaks = [
        max(e["args"]["cpu"] for e in found if e["ph"] == "C" and e["name"] == "cpu")
        for found in (ours, real)
    ]
    assert peaks[0] == peaks[1]


def check_trace(found):
    """Pids are integers, spans of a lane nest, arrows have two ends and none points back."""
    names = rows(found)
    assert sorted(names) == list(range(len(names)))
    lanes = {}
    for e in found:
        assert type(e["pid"]) is int and e["pid"] in names
        if e["ph"] == "X":
            lanes.setdefault((e["pid"], e["tid"]), []).append((e["ts"], e["ts"] + e["dur"]))
    for spans in lanes.values():
        for (_, end), (start, _) in zip(sorted(spans), sorted(spans)[1:]):
            assert start >= end
    starts = {e["id"]: e for e in found if e["ph"] == "s"}
    ends = {e["id"]: e for e in found if e["ph"] == "t"}
    assert starts.keys() == ends.keys()
    for number, start in starts.items():
        assert start["ts"] <= ends[number]["ts"]
        for e in (start, ends[number]):
            assert any(a <= e["ts"] <= b for a, b in lanes[e["pid"], e["tid"]])
    return starts, ends


@pytest.mark.parametrize("show_memory", [False, True])
def test_a_trace_is_well_formed(show_memory):
    x, w, loss, train = linear()
    with tf.Session() as sess:
        sess.run(w.initializer)
        _, stats = traced(sess, [loss, train], {x: np.ones([2, 3])})
    found = events(stats, show_memory=show_memory)
    check_trace(found)
    assert list(rows(found).values()) == [
        "Allocators", f"{DEVICE} Compute", f"{DEVICE} Tensors"
    ]  # fmt: skip
    assert any(e["ph"] == "C" for e in found) is show_memory


def test_arrows_between_devices_go_by_way_of_the_transfer():
    config = tf.ConfigProto(device_count={"CPU": 2})
    with tf.device("/cpu:0"):
        a = tf.Variable(tf.ones([10, 10]), name="a")
    with tf.device("/cpu:1"):
        b = tf.matmul(a, a, name="b")
    with tf.Session(config=config) as sess:
        sess.run(a.initializer)
        _, stats = traced(sess, b)
    found = events(stats)
    starts, ends = check_trace(found)
    names = rows(found)
    arrows = {(names[starts[i]["pid"]][-9:-8], names[ends[i]["pid"]][-9:-8]) for i in starts}
    assert ("0", "1") in arrows
    assert not [e for e in events(stats, show_dataflow=False) if e["ph"] in "st"]


def test_labels_of_other_forms_are_shown_as_unknown():
    stats = tf.RunMetadata().step_stats
    stats.dev_stats.add(device="d").node_stats.add(node_name="n", timeline_label="whatever")
    (span,) = [e for e in events(stats) if e["ph"] == "X"]
    assert (span["name"], span["args"]) == ("unknown", {"name": "n", "op": "unknown"})


# ---- where programs keep them


def test_a_writer_stores_the_metadata(tmp_path):
    with tf.Session() as sess:
        seen = tf.RunMetadata()
        sess.run(tf.constant(1), options=tf.RunOptions(trace_level=3), run_metadata=seen)
    writer = tf.summary.FileWriter(str(tmp_path))
    writer.add_run_metadata(seen, "step_1", 1)
    writer.close()
    (file,) = tmp_path.iterdir()
    *_, event = tf.train.summary_iterator(str(file))
    assert event.tagged_run_metadata.tag == "step_1"
    assert tf.RunMetadata.FromString(event.tagged_run_metadata.run_metadata) == seen


def test_profiler_hook_writes_a_timeline_every_n_steps(tmp_path):
    step = tf.train.get_or_create_global_step()
    train = tf.assign_add(step, 1)
    hook = tf.train.ProfilerHook(save_steps=2, output_dir=str(tmp_path), show_memory=True)
    with tf.train.SingularMonitoredSession([hook]) as sess:
        for _ in range(5):
            sess.run(train)
    written = sorted(p.name for p in tmp_path.glob("*.json"))
    assert written == ["timeline-2.json", "timeline-4.json"]
    trace = json.loads((tmp_path / "timeline-2.json").read_text())["traceEvents"]
    check_trace(trace)
    assert any(e["ph"] == "X" and e["args"]["op"] == "AssignAdd" for e in trace)
    (file,) = tmp_path.glob("events*")
    tags = [e.tagged_run_metadata.tag for e in tf.train.summary_iterator(str(file))]
    assert [tag for tag in tags if tag] == ["step_2", "step_4"]
