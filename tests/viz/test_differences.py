"""What differs between two steps, and how `minitf viz --diff` is asked."""

from __future__ import annotations

import json

import pytest

import minitf as tf
from cli.commands import EXAMPLES
from minitf import cli, viz

WHO = str(EXAMPLES / "who_applies.py")
CLUSTER = {"ps": ["a:1", "a:2"], "worker": ["b:1"]}
PS = [f"/job:ps/replica:0/task:{i}/device:CPU:0" for i in range(2)]
WORKER = "/job:worker/replica:0/task:0/device:CPU:0"


def model(ps: int, width: int = 4, extra: bool = False) -> tf.Graph:
    with tf.Graph().as_default() as graph:
        with tf.device(f"/job:ps/task:{ps}"):
            v = tf.get_variable("v", [width])
        with tf.device("/job:worker/task:0"):
            loss = tf.reduce_sum(v * v)
            if extra:
                tf.no_op("extra")
            tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    return graph


def test_no_difference():
    found = viz.diff(model(0), model(0), cluster=CLUSTER)
    assert not found.differs
    assert found.messages[0] == found.messages[1] > 0


def test_a_variable_that_moved():
    found = viz.diff(model(0), model(1), cluster=CLUSTER)
    moved = {m.name: m for m in found.moved}
    assert {"v", "v/read", "v/Assign"} <= moved.keys()
    assert (moved["v"].was, moved["v"].now) == tuple(PS)
    assert found.moved[0].why == ("asked by `with tf.device('/job:ps/task:1')`",)
    assert moved["v"].why == found.moved[0].why
    assert moved["v/read"].why == ("its group is asked to '/job:ps/task:1' by 'v'",)
    assert all(m.at.startswith(__file__) for m in found.moved)
    changes = {(t.change, t.tensor, t.src, t.dst) for t in found.transfers}
    assert {("gone", "v/read", PS[0], WORKER), ("new", "v/read", PS[1], WORKER)} <= changes
    assert found.bytes[0] == found.bytes[1]
    assert (found.gone, found.new) == ((), ())


@pytest.mark.parametrize(
    ("widths", "change"), [((4, 8), "grown"), ((8, 4), "shrunk"), ((4, None), "other")]
)
def test_a_transfer_of_another_size(widths, change):
    def graph(width):
        with tf.Graph().as_default() as made:
            with tf.device("/job:ps/task:0"):
                x = tf.placeholder(tf.float32, [width], name="x")
                y = tf.identity(x, name="y")
            with tf.device("/job:worker/task:0"):
                made.add_to_collection("train_op", tf.negative(y, name="z").op)
        return made

    found = viz.diff(*map(graph, widths), cluster=CLUSTER)
    (row,) = (t for t in found.transfers if t.tensor == "y")
    sizes = tuple(None if w is None else 4 * w for w in widths)
    assert (row.change, row.was, row.now) == (change, *sizes)
    assert found.moved == ()


def test_ops_that_only_one_has():
    found = viz.diff(model(0), model(0, extra=True), cluster=CLUSTER)
    assert (found.gone, found.new, found.transfers) == ((), ("extra",), ())
    assert viz.diff(model(0, extra=True), model(0), cluster=CLUSTER).gone == ("extra",)


# ---- the command

SCRIPT = """
import sys
import minitf as tf
with tf.device(tf.train.replica_device_setter(ps_tasks={ps}, worker_device="/job:worker/task:0")):
    for i in range(3):
        v = tf.get_variable(f"v{{i}}", [2])
    tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(v))
"""


@pytest.fixture
def scripts(tmp_path):
    files = [tmp_path / "one.py", tmp_path / "two ps.py"]
    for ps, file in enumerate(files, 1):
        file.write_text(SCRIPT.format(ps=ps))
    return [str(file) for file in files]


def test_command(scripts, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    one, two = scripts
    cluster = ("--cluster", "ps=2,worker=1")
    assert cli.main(["viz", "--diff", one, two, *cluster]) == 1
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    assert "Ops that moved: " in out
    assert "  v1        " in out
    assert "ps:0 -> ps:1  asked by `with" in out
    assert f"A: {one}: " in out
    assert cli.main(["viz", *cluster, "--diff", one, one]) == 0
    assert capsys.readouterr().out.startswith("No difference")
    assert cli.main(["viz", *cluster, two, "--diff", one, "--json"]) == 1
    rows = json.loads(capsys.readouterr().out)
    assert "v1" in [m["name"] for m in rows["moved"]]


def test_two_sets_of_options(scripts, capsys):
    """A may be options alone: it is then the same script with these."""
    _, two = scripts
    args = ["viz", "--diff", "--cluster ps=2,worker=2", two, "--cluster", "ps=2,worker=1"]
    assert cli.main(args) == 0
    command = f"'{two}' --cluster ps=2,worker=2 --fetch v0/read:0"
    assert cli.main(["viz", "--diff", command, two, "--cluster", "ps=2,worker=1"]) == 1
    out = " ".join(capsys.readouterr().out.split())
    assert f"A: {two} --cluster ps=2,worker=2 --fetch v0/read:0: 1 messages" in out
    assert f"B: {two} --cluster ps=2,worker=1: " in out


def test_a_side_that_cannot_be_shown(scripts, capsys, tmp_path):
    one, _ = scripts
    (tmp_path / "bad.py").write_text("1 / 0\n")
    assert cli.main(["viz", "--diff", one, str(tmp_path / "bad.py")]) == 2
    err = capsys.readouterr().err
    assert err.startswith("minitf: --diff: A: Cannot assign a device")
    args = ["viz", "--cluster", "ps=1,worker=1", "--diff", one, str(tmp_path / "bad.py")]
    assert cli.main(args) == 2
    assert "--diff: B: " in capsys.readouterr().err
