"""`minitf viz`: the readings of one step, and what is said of scripts that cannot be read."""

from __future__ import annotations

import json
import re
import runpy
import shutil
import subprocess
import textwrap

import networkx
import pytest

import minitf as tf
from cli.commands import EXAMPLES, one_line
from minitf import cli
from minitf.proto.text import merge_text
from minitf.viz.capture import capture, default_targets, step_of

WHO = str(EXAMPLES / "who_applies.py")
TWO_AND_TWO = "ps=2,worker=2"

# The messages of one step, as the traces of a real TensorFlow 1.15 cluster show them.
MESSAGES = """
ps:0 worker:0 parameter W/read 16
ps:1 worker:0 parameter b/read 4
worker:0 ps:0 hyper-parameter Adagrad/learning_rate 4
worker:0 ps:1 hyper-parameter Adagrad/learning_rate 4
worker:0 ps:0 gradient gradients/MatMul_grad/tuple/control_dependency_1 16
worker:0 ps:1 gradient gradients/add_grad/tuple/control_dependency_1 4
ps:0 worker:0 control Adagrad/update/NoOp 0
ps:1 worker:0 control Adagrad/update/NoOp_1 0
worker:0 ps:0 control Adagrad/update 0
""".strip().splitlines()


@pytest.fixture
def viz(capsys):
    """What `minitf viz ARGS` prints."""

    def run(*args: str) -> str:
        assert cli.main(["viz", *args]) == 0
        return capsys.readouterr().out

    return run


@pytest.fixture
def script(tmp_path):
    def write(text: str) -> str:
        file = tmp_path / "script.py"
        file.write_text("import minitf as tf\n" + textwrap.dedent(text))
        return str(file)

    return write


def short(device: str) -> str:
    return re.sub(r"/job:(\w+)/replica:0/task:(\d+)/device:CPU:0", r"\1:\2", device)


def who_rows(viz):
    return json.loads(viz("--cluster", TWO_AND_TWO, "--json", WHO))


def test_the_nine_messages(viz):
    rows = who_rows(viz)["transfers"]
    lines = [
        f"{short(r['src'])} {short(r['dst'])} {r['meaning']} {r['tensor']} {r['bytes']}"
        for r in rows
    ]
    assert lines == MESSAGES
    assert sum(r["bytes"] for r in rows) == 48
    assert [r["of"] for r in rows if r["meaning"] == "gradient"] == [["W"], ["b"]]
    assert all(r["why"] for r in rows)


def test_where_minimize_landed(viz):
    rows = who_rows(viz)["minimize"]
    assert {r["optimizer"] for r in rows} == {"Adagrad"}
    landed = {(short(r["device"]), r["part"]): dict(zip(r["variables"], r["ops"])) for r in rows}
    assert landed == {
        ("worker:0", "computes"): {},
        ("ps:0", "applies"): {"W": "Adagrad/update_W/ApplyAdagrad", "global_step": "Adagrad"},
        ("ps:1", "applies"): {"b": "Adagrad/update_b/ApplyAdagrad"},
    }
    assert "gradients/MatMul_grad/MatMul_1" in rows[0]["ops"]


def test_ops_by_device_and_role(viz):
    places = {(r["name"], r["role"], short(r["device"])) for r in who_rows(viz)["ops"]}
    assert places >= {
        ("W", "variable", "ps:0"),
        ("b/Adagrad", "slot", "ps:1"),
        ("MatMul", "forward", "worker:0"),
        ("gradients/MatMul_grad/MatMul_1", "gradient", "worker:0"),
        ("Adagrad/update_W/ApplyAdagrad", "apply", "ps:0"),
    }


def test_sums(viz):
    sums = [
        (short(r["src"]), short(r["dst"]), r["messages"], r["bytes"], r["unknown"])
        for r in who_rows(viz)["sums"]
    ]
    assert sums == [
        ("ps:0", "worker:0", 2, 16, 0),
        ("ps:1", "worker:0", 2, 4, 0),
        ("worker:0", "ps:0", 3, 20, 0),
        ("worker:0", "ps:1", 2, 8, 0),
    ]


def test_text_fits_and_says_it(viz, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    out = viz("--cluster", TWO_AND_TWO, WHO)
    assert max(map(len, out.splitlines())) <= 80
    assert not re.search(r"[ \t]$|\033", out, re.M), "padding or colours in a pipe"
    for words in (
        "Where minimize() landed: Adagrad",
        "worker:0 computes gradients, in 37 ops",
        "ps:0 applies them: it updates W, global_step",
        "5  worker:0 -> ps:0  gradient of W       16  gradients/MatMul_grad/tuple/",
        "9 messages, 48 bytes a step",
    ):
        assert words in out
    assert "... 39 more" in out
    assert "... " not in viz("--cluster", TWO_AND_TWO, "--all", WHO)


def test_narrow_terminal(viz, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    out = viz("--cluster", TWO_AND_TWO, WHO)
    assert max(map(len, out.splitlines())) <= 68  # the names keep 20 columns


def test_options_may_follow_the_script(viz):
    assert viz(WHO, "--cluster", TWO_AND_TWO) == viz("--cluster", TWO_AND_TWO, WHO)
    assert viz(WHO, "--json") == viz("--json", WHO)


def test_what_viz_does_not_know_is_the_scripts(viz, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\nimport minitf as tf\n"
        "tf.constant(1.0, name='-'.join(sys.argv[1:]).strip('-'))\n"
    )
    name = "steps-5---all"
    rows = json.loads(viz(str(script), "--steps", "5", "--json", "--fetch", name, "--", "--all"))
    assert [r["name"] for r in rows["ops"]] == [name]


def test_dot(viz):
    out = viz("--cluster", TWO_AND_TWO, "--dot", WHO)
    assert out.startswith("digraph step {\n")
    assert out.endswith("}\n")
    assert out.count("subgraph cluster_") == 3
    assert out.count("{") == out.count("}")
    # an arrow for each use of a tensor that has crossed: W/read and b/read are used twice
    assert out.count("#b03030") == 11
    assert '"W/read" -> "MatMul" [style=bold, color="#b03030", label="16 B"];' in out


@pytest.mark.parametrize("suffix", ["pb", "pbtxt"])
def test_a_graph_def_of_the_placed_graph(viz, tmp_path, suffix):
    file = tmp_path / f"step.{suffix}"
    assert viz("--cluster", TWO_AND_TWO, "--save", str(file), WHO) == ""
    made = tf.GraphDef()
    if suffix == "pb":
        made.ParseFromString(file.read_bytes())
    else:
        merge_text(file.read_text(), made)
    devices = {node.name: node.device for node in made.node}
    assert devices["W"] == "/job:ps/replica:0/task:0/device:CPU:0"
    assert devices["b"] == "/job:ps/replica:0/task:1/device:CPU:0"
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(made, name="")
    assert graph.get_tensor_by_name("W:0").shape == [4, 1]


@pytest.mark.skipif(not shutil.which("dot"), reason="Graphviz is not installed")
def test_graphviz_reads_our_dot(viz):
    dot = viz("--cluster", TWO_AND_TWO, "--dot", WHO)
    command = ["dot", "-Tsvg"]
    done = subprocess.run(command, input=dot, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert len(re.findall(r'class="cluster"', done.stdout)) == 3
    edges = [line for line in dot.splitlines() if " -> " in line]
    assert len(re.findall(r'class="edge"', done.stdout)) == len(edges)


def test_graphml(viz, tmp_path):
    file = str(tmp_path / "step.graphml")
    assert viz("--cluster", TWO_AND_TWO, "--graphml", file, WHO) == ""
    graph = networkx.read_graphml(file)
    crossing = [d for *_, d in graph.edges(data=True) if d["transfer"]]
    assert len(crossing) == 9
    assert sum(d["bytes"] for d in crossing) == 48
    assert networkx.is_directed_acyclic_graph(graph)
    node = graph.nodes["Adagrad/update_W/ApplyAdagrad"]
    assert (node["op"], node["role"]) == ("ApplyAdagrad", "apply")
    assert short(node["device"]) == "ps:0"
    assert "who_applies.py:" in node["source"]
    without = graph.subgraph(n for n, d in graph.nodes(data=True) if d["op"] != "_Recv")
    assert not networkx.has_path(without, "W", "MatMul"), "only a transfer leads from ps to worker"


@pytest.mark.parametrize(
    "task", ["ps:0", "/job:ps/task:0", "/job:ps/replica:0/task:0/device:CPU:0"]
)
def test_partition(viz, task):
    lines = viz("--cluster", TWO_AND_TWO, "--partition", task, WHO).splitlines()
    assert lines[0] == "W = VariableV2()"
    assert sum("_Send(" in line for line in lines) == 2
    assert sum("_Recv(" in line for line in lines) == 3


def test_plan(viz):
    out = viz("--cluster", TWO_AND_TWO, "--plan", WHO)
    assert out.count("def run(rdv, step, feeds, out):") == 3
    assert "# /job:ps/replica:0/task:1/device:CPU:0, strand 0" in out
    assert out.count("send_to(") == out.count("= recv(") == 9
    compile(out, "plan", "exec")


def test_fetch_chooses_the_step(viz):
    rows = json.loads(viz("--cluster", TWO_AND_TWO, "--json", "--fetch", "Mean:0", WHO))
    assert rows["fetches"] == ["Mean:0"]
    assert rows["minimize"] == []
    assert [r["meaning"] for r in rows["transfers"]] == ["parameter", "parameter"]


def test_without_a_cluster_the_script_says_which(viz):
    ours = json.loads(viz("--json", WHO))
    assert [r["tensor"] for r in ours["transfers"]] == [line.split()[3] for line in MESSAGES]


@pytest.mark.parametrize(("task", "device"), [("worker:1", "worker:1"), ("worker:0", "worker:0")])
def test_a_script_with_flags_runs_as_the_task_asked_for(viz, task, device):
    script = str(EXAMPLES / "distributed_mlp.py")
    rows = json.loads(viz("--cluster", TWO_AND_TWO, "--task", task, "--json", script))
    computes = [r for r in rows["minimize"] if r["part"] == "computes"]
    assert [short(r["device"]) for r in computes] == [device]
    assert {short(d) for d in rows["devices"]} == {"ps:0", "ps:1", device}


def test_feeds_decide_some_sizes(viz):
    out = viz(str(EXAMPLES / "in_graph.py"))
    assert "10 messages, 48 bytes a step and 6 of a size that the feeds decide" in out
    assert "ps:0 -> worker:1         3     12  and 2 of a size" in out


def test_one_device(viz):
    out = viz(str(EXAMPLES / "mlp_single.py"))
    assert "No transfers: one device runs the whole step" in out
    assert "localhost:0 applies them: it updates hidden/w, hidden/b, out/w, out/b" in out


def test_two_optimizers_are_told_apart(viz, script):
    file = script("""
        v = tf.get_variable("v", [2])
        w = tf.get_variable("w", [2])
        tf.train.AdamOptimizer(0.1).minimize(tf.reduce_sum(v * v))
        with tf.name_scope("second"):
            tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(tf.exp(w)))
    """)
    rows = {(r["optimizer"], r["part"]): r for r in json.loads(viz("--json", file))["minimize"]}
    assert rows["Adam", "applies"]["variables"] == ["v", "beta1_power", "beta2_power"]
    assert rows["second/GradientDescent", "applies"]["variables"] == ["w"]
    assert all("mul" in op for op in rows["Adam", "computes"]["ops"] if op.endswith("/Mul"))
    assert not any("Exp_grad" in op for op in rows["Adam", "computes"]["ops"])


def test_resource_variables(viz, script):
    file = script("""
        with tf.device(tf.train.replica_device_setter(ps_tasks=1, worker_device="/job:worker")):
            v = tf.get_variable("v", [2], use_resource=True)
            tf.train.MomentumOptimizer(0.1, 0.9).minimize(tf.reduce_sum(v * v))
    """)
    rows = json.loads(viz("--cluster", "ps=1,worker=1", "--json", file))
    gradient = next(r for r in rows["transfers"] if r["meaning"] == "gradient")
    assert gradient["of"] == ["v"]
    assert ("ps:0", "applies", ["v"]) in [
        (short(r["device"]), r["part"], r["variables"]) for r in rows["minimize"]
    ]


@pytest.mark.parametrize(("filtered", "shown"), [("[]", "a:0"), ("['/job:b']", "b:0")])
def test_device_filters_hold(viz, script, filtered, shown):
    """An op without a device goes to the first device that the session may use."""
    file = script(f"""
        server = tf.train.Server({{"a": ["localhost:1"], "b": ["localhost:2"]}}, "b", 0)
        config = tf.ConfigProto(device_filters={filtered})
        tf.Session(server.target, config=config).run(tf.no_op(name="end"))
    """)
    assert f"  {shown}     forward" in viz(file, "--fetch", "end")


def test_what_the_script_prints_goes_to_stderr(script, capsys):
    file = script("print('chatter'); tf.no_op(name='end')")
    assert cli.main(["viz", "--json", "--fetch", "end", file]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["targets"] == ["end"]
    assert err == "chatter\n"


def test_nothing_runs_and_no_port_opens(viz, script, tmp_path):
    file = script("""
        import sys
        server = tf.train.Server({"a": ["192.0.2.1:80"]})
        with tf.Session(server.target) as sess:
            open(sys.argv[1], "w").close()
            sess.run(tf.py_func(lambda: 1 / 0, [], tf.float32, name="bad"))
            raise AssertionError("it ran on")
    """)
    assert "a:0" in viz(file, str(tmp_path / "mark"), "--fetch", "bad")
    assert (tmp_path / "mark").exists()


def test_it_leaves_no_trace(viz, script):
    file = script("import os, sys; sys.path.append('x'); os.environ['X_LEFT'] = '1'; tf.no_op('x')")
    server, connect = tf.train.Server, tf.session.connect
    viz("--cluster", "worker=1", "--fetch", "x", file)
    assert tf.train.Server is server
    assert tf.session.connect is connect
    import os
    import sys

    assert "x" not in sys.path
    assert not {"X_LEFT", "TF_CONFIG"} & os.environ.keys()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "script.py has no ops: no graph was built"),
        ("tf.constant(1.0, name='c')", "no train op; name what to run with --fetch NAME (nothing"),
        ("def build():\n    tf.zeros([2]) + tf.zeros([3])\nbuild()", "script.py:3: ValueError: "),
        ("x = = 1", "script.py:2: SyntaxError: invalid syntax"),
        ("import sys; sys.exit(5)", "script.py ended itself with exit status 5"),
        ("while True:\n    pass", "ran for 0.3 s without a first Session.run; it was at"),
        ("import time; time.sleep(60)", "ran for 0.3 s"),
        ("with tf.device('/job:gone'): tf.no_op()", "/job:gone"),
    ],
)  # fmt: skip
def test_scripts_that_cannot_be_shown(script, capsys, text, words):
    fetch = ("--fetch", "NoOp") if "gone" in text else ()
    limit = "0.3" if "ran for" in words else "30"
    args = ("--limit", limit, "--cluster", "worker=1", *fetch, script(text))
    assert words in one_line(capsys, "viz", *args)


def test_a_script_that_holds_on_to_its_time_is_ended_again(script, capsys):
    file = script("""
        import time
        try:
            time.sleep(60)
        except BaseException:
            time.sleep(60)
    """)
    assert "ran for 0.1 s" in one_line(capsys, "viz", "--limit", "0.1", file)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["nowhere.py"], "no such script: nowhere.py"),
        ([], "required: SOURCE"),
        (["--json", "--dot", WHO], "not allowed with argument --dot"),
        (["--cluster", "ps:2", WHO], "--cluster: expected JOB=COUNT,JOB=COUNT but got 'ps:2'"),
        (["--cluster", "", WHO], "--cluster: expected JOB=COUNT"),
        (["--cluster", "ps=0,worker=1", WHO], "--cluster: expected JOB=COUNT"),
        (["--cluster", "ps=\u00b2", WHO], "--cluster: expected JOB=COUNT"),
        (["--task", "worker:x", WHO], "--task: expected JOB:N"),
        (["--cluster", TWO_AND_TWO, "--task", "worker:2", WHO], "there is no worker:2"),
        (
            ["--task", "chief", str(EXAMPLES / "distributed_mlp.py")],
            "no chief:0 in",
        ),
        (["--fetch", "nothing", WHO], "'nothing'"),
        (["--fetch", "Mean:7", WHO], "Mean:7"),
        (["--partition", "ps:7", WHO], "nothing of the step is on 'ps:7'; it is on ps:0, ps:1"),
        (["--partition", "no device", WHO], "nothing of the step is on 'no device'"),
        (["--why", "nothing", WHO], "--why: the graph has no op 'nothing'"),
        (["--why", "W/adagard", WHO], "did you mean W/Adagrad"),
        (["--fetch", "update_W", WHO], "did you mean Adagrad/update_W/ApplyAdagrad"),
        (["--why", "W", "--plan", WHO], "not allowed with argument"),
        (["--limit", "0", WHO], "expected a number of seconds above 0"),
        (["--diff", WHO], "expected two to compare"),
        (["--diff", "nowhere.py", WHO], "--diff: A: no such script: nowhere.py"),
        (["--diff", "'", WHO], "No closing quotation"),
        (["nowhere.pb"], "no such graph: nowhere.pb"),
        (["--address", "localhost:1"], "nobody answers at localhost:1: Connection refused"),
        (["--address", "localhost"], "--address: expected HOST:PORT"),
        (["--address", "localhost:99999"], "nobody answers at localhost:99999"),
        (["--address", "localhost:1", WHO], "a running cluster is read, not"),
        (["--address", "localhost:1", "--cluster", "ps=1"], "leave its size to it"),
        (["--graphml", "/nowhere/x", WHO], "cannot write /nowhere/x: No such file"),
        (["--save", "/dev/null/x.pb", WHO], "--save: cannot write /dev/null/x.pb: Not a directory"),
        (["--save", "x.png", WHO], "expected FILE.pb, or FILE.pbtxt for text, but got 'x.png'"),
    ],
)
def test_wrong_input(capsys, args, words):
    assert words in one_line(capsys, "viz", *args)


@pytest.mark.cluster
def test_it_shows_what_a_real_session_runs(free_ports):
    """The cut of viz, and the partitions that a session on four servers reports, are the same."""
    example = runpy.run_path(WHO)
    ports = iter(free_ports(4))
    cluster = {job: [f"localhost:{next(ports)}" for _ in range(2)] for job in ("ps", "worker")}
    servers = [tf.train.Server(cluster, job, i) for job in cluster for i in range(2)]
    x, y, loss, train, init = example["build"](tf.train.ClusterSpec(cluster))
    seen = tf.RunMetadata()
    with tf.Session(servers[2].target) as sess:
        sess.run(init)
        feed = {x: [[1.0] * 4], y: [[1.0]]}
        sess.run(train, feed, tf.RunOptions(output_partition_graphs=True), seen)
    ran = {(n.device, _unnumbered(n.name), n.op) for g in seen.partition_graphs for n in g.node}

    captured = capture(WHO, [], {"ps": ["a:1", "a:2"], "worker": ["b:1", "b:2"]}, ("worker", 0))
    cut = step_of(captured, default_targets(captured.graph))
    shown = {(n.device, _unnumbered(n.name), n.op) for part in cut.parts.values() for n in part}
    assert shown == ran


def _unnumbered(name: str) -> str:
    """The cut counts the nodes that it adds through all steps of a session."""
    return re.sub(r"_S\d+$", "_S", name)
