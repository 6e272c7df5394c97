"""What can be looked at: scripts, saved graphs, running clusters; and what cannot."""

from __future__ import annotations

import json
import runpy
import socket
import threading
import zipfile
from pathlib import Path

import pytest

import minitf as tf
from cli.commands import EXAMPLES, minitf
from minitf import viz
from minitf.viz.rows import as_json, edge_rows
from minitf.viz.source import did_you_mean, step_asked

WHO = str(EXAMPLES / "who_applies.py")
CLUSTER = {"ps": ["a:1", "a:2"], "worker": ["b:1", "b:2"]}
THEIRS = zipfile.ZipFile(Path(__file__).parents[1] / "data" / "exchange" / "recorded.zip")


@pytest.fixture(scope="module")
def who():
    return viz.read(WHO, cluster=CLUSTER, task=("worker", 0))


def wire(captured, fetches=()):
    rows = edge_rows(step_asked(captured, fetches))
    return sorted((r.tensor, r.src, r.dst, r.bytes, sorted(r.consumers)) for r in rows)


@pytest.mark.parametrize("suffix", [".pb", ".pbtxt", ".meta", ".text.meta"])
def test_a_saved_graph_is_read_as_the_script(who, tmp_path, suffix):
    """Of the cluster only the tasks that devices name are known: worker 0 is one of them."""
    file = str(tmp_path / f"who{suffix}")
    if suffix.startswith(".pb"):
        tf.train.write_graph(who.graph, str(tmp_path), f"who{suffix}", suffix == ".pbtxt")
    else:
        tf.train.export_meta_graph(file, graph=who.graph, as_text="text" in suffix)
    saved = viz.read(file)
    fetches = ["Adagrad"] if suffix.startswith(".pb") else []
    assert wire(saved, fetches) == wire(who)
    assert saved.cluster.as_dict().keys() == {"ps", "worker"}
    roles = {op.name: op._role for op in saved.graph.get_operations()}
    assert roles["W"] == "variable"
    assert roles["W/Adagrad"] == "slot"
    assert roles["gradients/MatMul_grad/MatMul_1"] == "gradient"
    assert roles["Adagrad/update_W/ApplyAdagrad"] == "apply"
    why = viz.why(file, "W/Adagrad")
    assert why.device == "/job:ps/replica:0/task:0/device:CPU:0"
    assert {link.at for link in why.links} == {""}
    assert "request" in {link.rule for link in why.links}


@pytest.mark.parametrize(
    "name", [n for n in THEIRS.namelist() if n.endswith((".meta", ".pb", ".pbtxt"))]
)
def test_what_tensorflow_wrote_is_read(name, tmp_path):
    captured = viz.read(THEIRS.extract(name, tmp_path))
    op = captured.graph.get_operations()[-1]
    job = "ps" if name == "mlp.meta" else "localhost"
    assert viz.why(captured, op.name).device == f"/job:{job}/replica:0/task:0/device:CPU:0"
    if name.endswith(".meta"):
        assert step_asked(captured).targets


def test_a_placed_graph_may_be_looked_at_in_another_cluster(tmp_path):
    with tf.Graph().as_default() as graph:
        tf.no_op("end")
    tf.train.write_graph(graph, str(tmp_path), "g.pb", False)
    alone = viz.why(str(tmp_path / "g.pb"), "end")
    assert alone.device.startswith("/job:localhost/")
    there = viz.why(tmp_path / "g.pb", "end", cluster=CLUSTER, task=("worker", 1))
    assert there.device == "/job:ps/replica:0/task:0/device:CPU:0"


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("x.pb", b"", "it holds no graph"),
        ("x.meta", b"", "it holds no graph"),
        ("x.pbtxt", b"node { name: 'x' ", "it holds no graph (line "),
        ("x.pb", b"\x89PNG\r\n\x1a\n\x00\x00", "it holds no graph"),
        ("x.meta", b"some text", "it holds no graph"),
        ("x.pbtxt", b"node { name: 'x' op: 'NoSuch' }", "Op type not registered 'NoSuch'"),
        ("x.pbtxt", b"node { name: 'x' op: 'Neg' input: 'y' }", "y"),
    ],
)
def test_a_file_that_is_no_graph(tmp_path, name, data, words):
    file = tmp_path / name
    file.write_bytes(data)
    with pytest.raises(viz.Unreadable) as caught:
        viz.read(file)
    assert str(caught.value).startswith(str(file))
    assert words in str(caught.value)


def test_the_cpus_of_a_script_are_those_of_its_servers(tmp_path):
    """A task whose server it does not make is taken to be like its own."""
    script = tmp_path / "two_cpus.py"
    script.write_text(
        "import minitf as tf\n"
        "two = tf.ConfigProto(device_count={'CPU': 2})\n"
        "tf.train.Server({'ps': ['a:1'], 'worker': ['b:1']}, 'worker', 0, config=two)\n"
        "for job in ('ps', 'worker'):\n"
        "    with tf.device(f'/job:{job}/cpu:1'):\n"
        "        tf.no_op(job)\n"
    )
    for job in ("ps", "worker"):
        assert viz.why(script, job).device == f"/job:{job}/replica:0/task:0/device:CPU:1"


@pytest.mark.parametrize("device", ["/cpu:1", "/gpu:0", "/job:worker/task:0/device:GPU:1"])
def test_a_saved_graph_has_the_devices_that_it_names(tmp_path, device):
    with tf.Graph().as_default() as graph, tf.device(device):
        tf.get_variable("v", [2])
    tf.train.write_graph(graph, str(tmp_path), "g.pb", as_text=False)
    why = viz.why(tmp_path / "g.pb", "v")
    assert why.error == ""
    assert why.device.lower().endswith(device[-5:].lower())


def test_a_directory_is_no_script(tmp_path):
    with pytest.raises(viz.Unreadable, match="no such script"):
        viz.read(tmp_path)


def test_no_limit_outside_the_main_thread(tmp_path):
    """A signal can end the main thread alone; elsewhere the script runs to its end."""
    file = tmp_path / "slow.py"
    file.write_text("import time\nimport minitf as tf\ntf.no_op('end')\ntime.sleep(0.2)\n")
    got = []
    thread = threading.Thread(target=lambda: got.append(viz.read(file, limit=0.1)))
    thread.start()
    thread.join()
    assert [op.name for op in got[0].graph.get_operations()] == ["end"]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("ApplyAdagrad", ["up/W/ApplyAdagrad"]),
        ("W/Adagrda", ["W/Adagrad", "up/W/ApplyAdagrad"]),
        ("w", ["W", "W/Adagrad", "up/W/ApplyAdagrad"]),
        ("zzz", []),
    ],
)
def test_nearest_names(name, found):
    offered = did_you_mean(name, ["up/W/ApplyAdagrad", "W/Adagrad", "W", "b"])
    assert offered == (f"; did you mean {', '.join(found)}?" if found else "")


def test_the_step_of_synchronous_replicas_is_the_workers():
    """The collection holds the update, which the chief's queue runner runs."""
    with tf.Graph().as_default() as graph:
        v = tf.get_variable("v", [2])
        sgd = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), 2)
        train = sgd.minimize(tf.reduce_sum(v), tf.train.get_or_create_global_step())
    assert step_asked(viz.read(graph)).targets == (train.op.name,)
    assert graph.get_collection("train_op") != [train.op]


# ---- a running cluster


def plain(values):
    return json.loads(json.dumps(values))


@pytest.fixture
def servers(free_ports):
    ports = iter(free_ports(3))
    cluster = {"ps": [f"localhost:{next(ports)}" for _ in range(2)]}
    cluster["worker"] = [f"localhost:{next(ports)}"]
    made = [tf.train.Server(cluster, job, i) for job in cluster for i in range(len(cluster[job]))]
    return cluster, made


@pytest.mark.cluster
def test_a_running_cluster_shows_the_step_that_ran_last(servers):
    cluster, (*_, worker) = servers
    example = runpy.run_path(WHO)
    x, y, loss, train, init = example["build"](tf.train.ClusterSpec(cluster))
    with tf.Session(worker.target) as sess:
        sess.run(init)
        sess.run(train, {x: [[1.0] * 4], y: [[1.0]]})
        session = next(iter(sess._master._sessions.values()))
        address = cluster["worker"][0]
        seen = minitf("viz", "--address", address, "--json")
        assert seen.returncode == 0, seen.stderr
        assert json.loads(seen.stdout) == plain(as_json(session.last.partitioned))
        through_a_ps = minitf("viz", "--address", cluster["ps"][1], "--json")
        assert through_a_ps.stdout == seen.stdout
        why = json.loads(minitf("viz", "--address", address, "--why", "W", "--json").stdout)
        assert why["device"] == "/job:ps/replica:0/task:0/device:CPU:0"
        assert any("who_applies.py:" in link["at"] for link in why["links"])
        other = minitf("viz", "--address", address, "--fetch", "Mean:0")
        assert "2 messages, 20 bytes a step" in other.stdout
        same = minitf("viz", "--diff", f"--address {address}", f"grpc://{address}")
        assert (same.returncode, same.stderr) == (0, "")
        assert same.stdout.startswith("No difference")
        none = minitf("viz", "--address", address, "--task", "ps:0")
        assert none.returncode == 2
        assert "no session is open on ps:0" in none.stderr
        unknown = minitf("viz", "--address", address, "--task", "ps:7")
        assert "no task /job:ps/replica:0/task:7; the cluster has" in unknown.stderr


@pytest.mark.cluster
def test_a_session_that_has_run_nothing_and_one_that_grows(servers):
    cluster, (*_, worker) = servers
    with tf.Graph().as_default() as graph, tf.Session(worker.target) as sess:
        with tf.device("/job:ps/task:1"):
            v = tf.get_variable("v", [2])
        train = v.assign_add([1.0, 1.0])
        sess.list_devices()
        sess.run(v.initializer)
        graph.add_to_collection("train_op", train.op)
        live = viz.read(worker.target)
        assert live.options.cpus == 1
        assert live.ran.targets == ("v/Assign",)
        tf.no_op("later")
        sess.run("later")
        why = viz.why(worker.target, "v")
        assert [link.rule for link in why.links] == [
            *("scope", "class", "pinned", "assigned"),
            *("class", "group", "assigned", "left"),
        ]
        assert viz.why(worker.target, "later").device == "/job:ps/replica:0/task:0/device:CPU:0"
        with pytest.raises(viz.Unreadable, match="leave its size to it"):
            viz.read(worker.target, cluster=CLUSTER)
    with pytest.raises(viz.Unreadable, match="no session is open on the cluster at"):
        viz.read(worker.target)


def test_an_address_where_somebody_else_listens():
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        seen = minitf("viz", "--address", f"127.0.0.1:{port}")
    assert seen.returncode == 2
    assert f"no minitf server answers at 127.0.0.1:{port}" in seen.stderr
    assert seen.stderr.count("\n") == 1
