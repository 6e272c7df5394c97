"""The rows of a traced step: transfers, critical path, waiting; and `minitf viz --trace`."""

import json
import textwrap
from pathlib import Path

import pytest

import minitf as tf
from cli.commands import EXAMPLES, one_line
from minitf import cli
from minitf.viz import trace_step
from minitf.viz.trace import Hop, TaskTime, TransferTime, read
from minitf.viz.trace_text import time_text

PS, WORKER = (f"/job:{job}/replica:0/task:0" for job in ("ps", "worker"))
DATA = Path(__file__).parents[1] / "data" / "trace"
MICRO = 1000


def stats_of(*rows):
    """(device, label, start, end[, scheduled, bytes]) in microseconds."""
    made = tf.RunMetadata().step_stats
    devices = {}
    for device, label, start, end, *more in rows:
        if device not in devices:
            devices[device] = made.dev_stats.add(device=device)
        asked, nbytes = more or (start, 0)
        node = devices[device].node_stats.add(
            node_name=label.partition(" = ")[0] if " = " in label else "RecvTensor",
            timeline_label=label,
            all_start_nanos=start * MICRO,
            op_end_rel_nanos=(end - start) * MICRO,
            all_end_rel_nanos=(end - start) * MICRO,
            scheduled_nanos=asked * MICRO,
        )
        node.output.add().tensor_description.allocation_description.requested_bytes = nbytes
    return made


CPU_PS, CPU_WORKER = f"{PS}/device:CPU:0", f"{WORKER}/device:CPU:0"
SENT = f"[40B] [1.6Mb/s] edge_4_w/read from {CPU_PS} to {CPU_WORKER}"
BACK = f"[8B] [0.3Mb/s] edge_9_g from {CPU_WORKER} to {CPU_PS}"
STEP = [
    (CPU_PS, "w = VariableV2()", 100, 110),
    (CPU_PS, "w/read = Identity(w)", 110, 112),
    (CPU_WORKER, "x = Const()", 100, 150),
    (CPU_WORKER, SENT, 115, 315, 155, 40),
    (CPU_WORKER, "mm = MatMul(x, w/read_S3)", 320, 420),
    (CPU_WORKER, "g = Mul(mm, mm)", 420, 440),
    (CPU_PS, BACK, 445, 645, 120, 8),
    (CPU_PS, "apply = ApplyGradientDescent(w, g_S5)", 650, 700),
]


def test_transfers_tell_how_long_the_receiver_stood_still():
    assert read(stats_of(*STEP)).transfers == (
        TransferTime("w/read", CPU_PS, CPU_WORKER, 15, 200, 40, 160),
        TransferTime("g", CPU_WORKER, CPU_PS, 345, 200, 8, 525),
    )


def test_the_critical_path_goes_by_way_of_the_transfers():
    path = read(stats_of(*STEP)).path
    assert [(h.kind, h.name) for h in path] == [
        ("op", "w"),
        ("op", "w/read"),
        ("transfer", "w/read"),
        ("op", "mm"),
        ("op", "g"),
        ("transfer", "g"),
        ("op", "apply"),
    ]
    assert path[3] == Hop("op", "mm", CPU_WORKER, 220, 100, 5)
    assert sum(h.after + h.duration for h in path) == read(stats_of(*STEP)).duration == 600


def test_tasks_compute_and_wait():
    assert read(stats_of(*STEP)).tasks == (TaskTime(PS, 62, 525), TaskTime(WORKER, 170, 160))


def test_waits_at_the_same_time_count_once_and_blocking_ops_are_waits():
    rows = [
        (CPU_WORKER, "q = QueueDequeueV2(queue)", 0, 100),
        (CPU_WORKER, SENT, 50, 120, 40, 40),
        (CPU_WORKER, "y = Neg(q)", 120, 130),
    ]
    assert read(stats_of(*rows)).tasks == (TaskTime(WORKER, 10, 120),)


def test_a_loop_leads_back_through_its_iterations():
    rows = [
        (CPU_PS, "next = Add(merge, one)", 10 * i, 10 * i + 8) for i in range(3)
    ] + [(CPU_PS, "exit = Neg(next)", 30, 40)]  # fmt: skip
    assert [h.start for h in read(stats_of(*rows)).path] == [0, 10, 20, 30]


def test_statistics_of_tensorflow_are_read_without_the_double_of_the_host():
    seen = tf.RunMetadata.FromString((DATA / "run_metadata.pb").read_bytes())
    trace = read(seen.step_stats)
    assert {o.device for o in trace.ops} == {"/job:localhost/replica:0/task:0/device:CPU:0"}
    assert {"mm", "s", "w/read"} <= {o.name for o in trace.ops}
    assert trace.path[-1].name in {o.name for o in trace.ops}


def test_nothing_is_read_of_nothing():
    trace = read(tf.RunMetadata().step_stats)
    assert (trace.duration, trace.ops, trace.path, trace.tasks) == (0, (), (), ())


@pytest.mark.parametrize(
    "micros, text",
    [(0, "0"), (0.512, "0.5 us"), (12.3, "12 us"), (999.4, "999 us"), (999.6, "1 ms"),
     (25600, "25.6 ms"), (3.2e6, "3.2 s")],
)  # fmt: skip
def test_times_as_text(micros, text):
    assert time_text(micros) == text


# ---- the command


@pytest.fixture
def viz(capsys):
    def run(*args):
        assert cli.main(["viz", *map(str, args)]) == 0
        return capsys.readouterr().out

    return run


def test_a_step_of_a_cluster_as_tables(viz):
    out = viz(EXAMPLES / "who_applies.py", "--cluster", "ps=2,worker=2", "--trace", 2)
    assert max(map(len, out.splitlines())) <= 80
    for title in ("One step of ", "Critical path", "Ops", "Transfers"):
        assert f"\n{title}" in "\n" + out
    assert "the median of 2 steps" in out
    assert "ApplyAdagrad" in out


def test_the_same_as_rows_and_as_chrome_trace(viz, tmp_path):
    file = tmp_path / "trace.json"
    rows = json.loads(
        viz(EXAMPLES / "who_applies.py", "--trace", 1, "--json", "--batch", 5, "--out", file)
    )
    assert rows["duration"] > 0
    sizes = {t["tensor"]: t["bytes"] for t in rows["transfers"]}
    assert sizes["W/read"] == 16
    assert next(o["bytes"] for o in rows["ops"] if o["name"] == "MatMul") == 5 * 4
    events = json.loads(file.read_text())["traceEvents"]
    assert sum(e["ph"] == "X" for e in events) == len(rows["ops"]) + len(rows["transfers"])


def script(tmp_path, text):
    file = tmp_path / "script.py"
    file.write_text("import minitf as tf\n" + textwrap.dedent(text))
    return str(file)


def test_queue_runners_and_tables_run(viz, tmp_path):
    file = script(
        tmp_path,
        """
        limit = tf.Variable(3, name="limit")
        item = tf.train.range_input_producer(limit, shuffle=False).dequeue()
        total = tf.add(item, tf.placeholder(tf.int32, []), name="total")
        """,
    )
    out = viz(file, "--trace", 3, "--fetch", "total:0")
    assert "QueueDequeueV2" in out and "(may wait)" in out
    assert "No transfers" in out


@pytest.mark.parametrize(
    "args, said",
    [
        (["--trace", "no"], "--trace: expected a number of steps but got 'no'"),
        (["--trace", "0"], "--trace: expected a number of steps but got '0'"),
        (["--out", "f"], "--out: goes with --trace"),
        (["--trace", "1", "--dot"], "--dot: not allowed with --trace"),
        (["--trace", "1", "--wire"], "--wire: not allowed with --trace"),
        (["--trace", "1", "--out", "/no/such/file"], "--out: cannot write /no/such/file: "),
    ],
)
def test_wrong_options(capsys, args, said):
    assert one_line(capsys, "viz", EXAMPLES / "who_applies.py", *args).startswith(said)


def test_a_step_that_fails_names_the_op(capsys, tmp_path):
    file = script(
        tmp_path,
        """
        x = tf.placeholder(tf.float32, [None])
        tf.add(x, tf.ones([3]), name="bad")
        """,
    )
    said = one_line(capsys, "viz", file, "--trace", "1", "--fetch", "bad", "--batch", "2")
    assert "Incompatible shapes: [2] vs. [3]" in said


@pytest.mark.cluster
def test_python_call():
    hosts = {"ps": ["a:1", "a:2"], "worker": ["b:1"]}
    shown = trace_step(str(EXAMPLES / "who_applies.py"), steps=2, cluster=hosts)
    assert shown.duration > 0
    assert "MatMul" in {op.name for op in shown.ops}
    assert len(shown.transfers) == 9


def test_synchronous_replicas_are_not_run_alone(capsys):
    script = str(EXAMPLES / "sync_replicas.py")
    assert cli.main(["viz", "--cluster", "ps=1,worker=2", "--trace", "1", script]) == 2
    assert "synchronous replicas: a step of one worker alone would" in capsys.readouterr().err
