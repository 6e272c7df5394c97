"""`minitf run`: scripts that say `import tensorflow` run as they are, in a cluster and viz too."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import minitf as tf
from cli.commands import minitf, one_line
from minitf import alias

LINEAR = """
import sys
import tensorflow as tf
x = tf.placeholder(tf.float32, [None, 1], name="x")
w = tf.Variable([[1.0]], name="w")
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 3.0 * x))
step = tf.train.GradientDescentOptimizer(0.125).minimize(loss)
with tf.compat.v1.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(step, {x: [[1.0], [2.0]]})
    print(sys.argv[1:], __name__, sess.run(w)[0, 0])
"""


@pytest.fixture
def script(tmp_path: Path):
    def write(text: str) -> Path:
        file = tmp_path / "script.py"
        file.write_text(text)
        return file

    return write


@pytest.fixture
def aliased():
    undo = alias.install()
    yield
    undo()


def test_a_tensorflow_script_runs_unmodified(script):
    done = minitf("run", script(LINEAR), "--rate", "1", "--help")
    # The gradient of mean((w-3)^2 x^2) at 1 is 2 * -2 * (1 + 4) / 2 = -10.
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "['--rate', '1', '--help'] __main__ 2.25\n"


def test_modules_beside_the_script_are_found(script, tmp_path):
    (tmp_path / "beside.py").write_text("import tensorflow as tf\nnode = tf.constant(7)\n")
    done = minitf("run", script("import beside\nprint(beside.node.op.type)"))
    assert done.stdout == "Const\n", done.stderr


def test_the_exit_status_is_the_scripts(script):
    assert minitf("run", script("raise SystemExit(5)")).returncode == 5
    failed = minitf("run", script("import tensorflow as tf\ntf.matmul([1.0], [[1.0]])"))
    assert failed.returncode == 1
    assert failed.stderr.splitlines()[-1].startswith(
        "ValueError: Shape must be rank 2 but is rank 1"
    )


def test_tf_app_run_finds_main(script):
    text = "import tensorflow as tf\ndef main(argv): print(len(argv))\ntf.app.run()"
    assert minitf("run", script(text), "a").stdout == "2\n"


def test_no_such_script(capsys, tmp_path):
    assert one_line(capsys, "run", tmp_path / "no.py") == f"no such script: {tmp_path / 'no.py'}"


@pytest.mark.parametrize("command", ["run", "cluster"])
def test_only_the_script_is_asked_for(capsys, command):
    said = one_line(capsys, command)
    assert said == f"the following arguments are required: SCRIPT (see minitf {command} --help)"


@pytest.mark.cluster
def test_tasks_of_a_cluster_run_such_scripts(script):
    file = script(
        "import json, os, tensorflow as tf\n"
        "config = json.loads(os.environ['TF_CONFIG'])\n"
        "task = config['task']\n"
        "server = tf.train.Server(config['cluster'], task['type'], task['index'])\n"
        "if task['type'] == 'ps': server.join()\n"
        "with tf.device('/job:ps/task:0'): a = tf.constant(20.0)\n"
        "print(tf.Session(server.target).run(a + 1.0))\n"
    )
    done = minitf("cluster", "--ps", 1, "--workers", 1, file)
    assert "[worker:0] 21.0" in done.stdout, done.stdout + done.stderr


def test_viz_reads_such_scripts(script):
    done = minitf("viz", script(LINEAR), "--cluster", "ps=1,worker=1", "--json")
    assert done.returncode == 0, done.stderr
    assert "GradientDescent" in done.stdout


def test_the_names_of_modules(aliased):
    import tensorflow
    import tensorflow.compat.v1 as v1
    from tensorflow.contrib import rnn
    from tensorflow.python.client import timeline
    from tensorflow.python.framework import ops, tensor_shape
    from tensorflow.python.ops import math_ops, nn_ops, rnn_cell_impl
    from tensorflow.python.util import compat, nest

    assert tensorflow is tf and v1 is tf
    assert rnn is tf.contrib.rnn
    assert timeline.Timeline.__name__ == "Timeline"
    assert (ops.name_scope, math_ops.reduce_sum) == (tf.name_scope, tf.reduce_sum)
    assert (nn_ops.relu, rnn_cell_impl.LSTMCell) == (tf.nn.relu, tf.nn.rnn_cell.LSTMCell)
    assert tensor_shape.matrix(2, None).as_list() == [2, None]
    assert (nest.flatten, compat.as_text(b"a")) == (tf.nest.flatten, "a")


@pytest.mark.parametrize(
    ("line", "error", "text"),
    [
        ("import tensorflow.keras", ModuleNotFoundError, "minitf has no tf.keras"),
        ("from tensorflow.python.ops import nosuch_ops", ImportError, "nosuch_ops"),
        ("from tensorflow.python.nosuch import x", ModuleNotFoundError, "tf.python.nosuch"),
        (
            "from tensorflow.python.ops import math_ops; math_ops.nosuch",
            AttributeError,
            "no public tf.nosuch",
        ),
    ],
)
def test_what_is_not_there_is_named(aliased, line, error, text):
    with pytest.raises(error, match=text):
        exec(line, {})


def test_undoing_brings_back_what_was_there(monkeypatch):
    real = object()
    monkeypatch.setitem(sys.modules, "tensorflow", real)
    undo = alias.install()
    import tensorflow

    assert tensorflow is tf
    undo()
    assert sys.modules["tensorflow"] is real
    assert not any(name.startswith("tensorflow.") for name in sys.modules)


def test_text_and_bytes():
    assert tf.compat.as_bytes("é") == "é".encode() == tf.compat.as_bytes("é".encode())
    assert tf.compat.as_text(b"a") == tf.compat.as_str_any(b"a") == "a"
    assert (tf.compat.as_str_any(1), tf.compat.path_to_str(Path("a/b"))) == ("1", "a/b")
    with pytest.raises(TypeError, match="Expected binary or unicode string, got 1"):
        tf.compat.as_bytes(1)
    with pytest.raises(TypeError, match="Expected binary or unicode string, got 1"):
        tf.compat.as_text(1)
    with pytest.raises(AttributeError, match=r"minitf\.compat.*'v2'"):
        _ = tf.compat.v2
    assert tf.compat.v1 is tf
