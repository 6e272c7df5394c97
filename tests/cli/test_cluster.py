"""`minitf cluster`: what each task gets, how the command ends, and that no process outlives it."""

from __future__ import annotations

import json
import signal
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.commands import EXAMPLES, all_end, minitf, one_line, start

pytestmark = pytest.mark.cluster

# A task that says who it is; `job` and `index` are at hand for what follows.
HEAD = """
import json, os, signal, sys, time
task = json.loads(os.environ["TF_CONFIG"])["task"]
job, index = task["type"], task["index"]
print("pid", os.getpid())
"""


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        file = tmp_path / "script.py"
        file.write_text(HEAD + textwrap.dedent(text))
        return file

    return write


def pids(out: str) -> list[int]:
    return [int(line.split()[-1]) for line in out.splitlines() if "] pid " in line]


def lines_of(out: str, task: str) -> list[str]:
    mark = f"[{task}] "
    return [line.removeprefix(mark) for line in out.splitlines() if line.startswith(mark)]


@pytest.mark.parametrize(
    ("text", "options", "wanted"),
    [
        ("", [], ""),
        ("# flags.DEFINE_string('job_name', 'task_index')", [], "job_name task_index"),
        ("# '--ps_hosts'", [], "ps_hosts"),
        ("", ["--flags"], "job_name task_index ps_hosts worker_hosts"),
    ],
)
def test_what_a_task_gets(script, text, options, wanted):
    file = script(text + "\nprint(sys.argv[1:], os.environ['TF_CONFIG'], sep='|')")
    done = minitf("cluster", "--ps", 1, "--workers", 2, *options, file, "--rate", "0.5")
    assert done.returncode == 0, done.stderr
    for index in range(2):
        argv, _, config = lines_of(done.stdout, f"worker:{index}")[1].partition("|")
        cluster = json.loads(config)["cluster"]
        assert {job: len(hosts) for job, hosts in cluster.items()} == {"ps": 1, "worker": 2}
        values = dict(
            job_name="worker",
            task_index=index,
            ps_hosts=",".join(cluster["ps"]),
            worker_hosts=",".join(cluster["worker"]),
        )
        flags = [f"--{name}={values[name]}" for name in wanted.split()]
        assert argv == str(["--rate", "0.5", *flags])


def test_a_chief_and_an_evaluator(script):
    """The evaluator knows the cluster, and is no part of it."""
    file = script("time.sleep(60 * (job == 'ps')); print(os.environ['TF_CONFIG'])")
    done = minitf("cluster", "--workers", 0, "--chief", "--evaluator", file)
    assert done.returncode == 0, done.stderr
    for task in ("chief:0", "evaluator:0"):
        cluster = json.loads(lines_of(done.stdout, task)[1])["cluster"]
        assert {job: len(hosts) for job, hosts in cluster.items()} == {"ps": 1, "chief": 1}


def test_workers_done_ends_the_ps(script):
    file = script("print('done') if job == 'worker' else time.sleep(60)")
    done = minitf("cluster", "--ps", 2, "--workers", 2, file)
    assert done.returncode == 0
    assert done.stdout.count("done") == 2
    assert len(pids(done.stdout)) == 4
    assert all_end(pids(done.stdout))


@pytest.mark.parametrize(
    ("end", "status", "words"),
    [
        ("sys.exit(7)", 7, "worker:1 ended with status 7"),
        ("os.kill(os.getpid(), signal.SIGKILL)", 137, "worker:1 ended with signal SIGKILL"),
        ("raise LookupError('nothing here')", 1, "worker:1 ended with status 1"),
    ],
)
def test_the_first_failing_task_ends_all(script, end, status, words):
    file = script(f"""
        if (job, index) == ("worker", 1):
            time.sleep(0.3)
            {end}
        time.sleep(60)
    """)
    done = minitf("cluster", "--ps", 1, "--workers", 2, file)
    assert done.returncode == status
    assert done.stderr == f"minitf: {words}, ending all tasks\n"
    assert len(pids(done.stdout)) == 3
    assert all_end(pids(done.stdout))
    traceback = lines_of(done.stdout, "worker:1")[1:]
    assert bool(traceback) == ("raise" in end)
    if traceback:
        assert traceback[0] == "Traceback (most recent call last):"
        assert traceback[-1] == "LookupError: nothing here"


def test_a_failing_ps_ends_all(script):
    done = minitf("cluster", script("sys.exit(3) if job == 'ps' else time.sleep(60)"))
    assert done.returncode == 3
    assert "ps:0 ended with status 3" in done.stderr


def test_time_limit(script):
    done = minitf("cluster", "--timeout", 3, script("time.sleep(60)"))
    assert done.returncode == 124
    assert done.stderr == "minitf: not done after 3 s, ending all tasks\n"
    assert all_end(pids(done.stdout))


@pytest.mark.parametrize(
    ("number", "status"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -signal.SIGKILL)],
)
def test_a_signal_ends_all(script, number, status):
    with start("cluster", "--ps", 1, "--workers", 2, script("time.sleep(60)")) as command:
        out = "".join(command.stdout.readline() for _ in range(3))
        command.send_signal(number)
        assert command.wait(20) == status
        assert command.stderr.read() == ""
    assert len(pids(out)) == 3
    assert all_end(pids(out))


@pytest.mark.slow
def test_a_task_that_will_not_end_is_killed(script):
    file = script("signal.signal(signal.SIGTERM, signal.SIG_IGN); job == 'ps' and time.sleep(60)")
    done = minitf("cluster", file)
    assert done.returncode == 0
    assert all_end(pids(done.stdout))


def test_what_a_task_has_started_ends_with_it(script):
    file = script("""
        import subprocess
        if job == "ps":
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
            print("pid", child.pid)
            time.sleep(60)
        time.sleep(0.5)
    """)
    done = minitf("cluster", file)
    assert done.returncode == 0
    assert len(pids(done.stdout)) == 3
    assert all_end(pids(done.stdout))


def test_reader_that_goes_away_ends_nothing(script):
    """As `minitf cluster ... | head -1`: the tasks run to their end."""
    file = script("[print('line', i) for i in range(5000)]; open(sys.argv[1] + job, 'w').close()")
    mark = file.with_name("mark")
    with start("cluster", "--ps", 0, file, mark) as command:
        command.stdout.readline()
        command.stdout.close()
        assert "Traceback" not in command.stderr.read()
        assert command.wait() in (0, 1)
    assert mark.with_name("markworker").exists()


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["nowhere.py"], "no such script: nowhere.py"),
        (["."], "no such script: ."),
        ([], "required: SCRIPT"),
        (["--ps", "-1", "x.py"], "expected a number of tasks from 0 to 256, got '-1'"),
        (["--ps", "\u00b2", "x.py"], "expected a number of tasks from 0 to 256"),
        (["--workers", "many", "x.py"], "argument --workers: expected a number of tasks"),
        (["--workers", "0", __file__], "--workers must be at least 1"),
        (["--timeout", "0", "x.py"], "expected a number of seconds above 0, got '0'"),
        (["--timeout", "nan", "x.py"], "expected a number of seconds above 0, got 'nan'"),
    ],
)
def test_wrong_input(capsys, args, words):
    assert words in one_line(capsys, "cluster", *args)


def test_trains(tmp_path):
    script = EXAMPLES / "distributed_mlp.py"
    args = ["--steps", 60, "--print_every", 59]
    done = minitf("cluster", "--ps", 2, "--workers", 2, script, *args, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    for index in range(2):
        losses = [
            float(line.split()[-1])
            for line in lines_of(done.stdout, f"worker:{index}")
            if "loss" in line
        ]
        assert len(losses) == 2
        assert losses[1] < losses[0] / 2
        assert f"worker {index} done at global step" in done.stdout
