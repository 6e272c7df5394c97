"""tf.app.run and tf.flags (outputs recorded from TF 1.15.5).

absl's flags are global, so each test has a process of its own.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

DEFINITIONS = """
import sys
from minitf import app
flags = app.flags
print("absl" in sys.modules)
flags.DEFINE_string("job_name", "worker", "job")
flags.DEFINE_integer(flag_name="task_index", default_value=0, docstring="index")
flags.DEFINE_float("lr", 0.1, "rate", lower_bound=0)
flags.DEFINE_boolean("sync", False, "sync")
flags.DEFINE_bool("log", True, "log")
flags.DEFINE_enum("mode", "a", ["a", "b"], "mode")
flags.DEFINE_list("ps", ["x"], "ps")
flags.DEFINE_multi_integer("m", [1], "m")
F = flags.FLAGS
def show():
    print(F.job_name, F.task_index, F.lr, F.sync, F.log, F.mode, F.ps, F.m)
"""
LAZY = """
print(F.is_parsed())
show()
print(F.is_parsed())
F.lr = 2
print(F.lr, F["lr"].value, "lr" in F, "zz" in F)
print("job_name" in [f.name for f in F.get_key_flags_for_module(sys.argv[0])])
for act in (lambda: F.zz, lambda: setattr(F, "nope", 1)):
    try:
        act()
    except Exception as error:
        print(type(error).__name__, error)
"""
MAIN = """
def main(argv):
    print(argv[1:])
    show()
    return 3
app.run()
"""


def run(program: str, *argv: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-c", DEFINITIONS + program, *argv]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("argv", "values"),
    [
        ("", "worker 0 0.1 False True a ['x'] [1]"),
        (
            "--job_name=ps --task_index 2 --sync --nolog --ps=a,b --m=3 --m=4",
            "ps 2 0.1 True False a ['a', 'b'] [3, 4]",
        ),
    ],
)
def test_flags_are_parsed_when_first_read(argv, values):
    done = run(LAZY, *argv.split())
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "False",
        "False",
        values,
        "True",
        "2 2 True False",
        "True",
        "AttributeError zz",
        "UnrecognizedFlagError Unknown command line flag 'nope'",
    ]


def test_run_leaves_unknown_flags_to_main():
    done = run(MAIN, "--bogus=1", "--lr", "3", "rest", "--sync")
    assert done.stdout.splitlines()[1:] == [
        "['--bogus=1', 'rest']",
        "worker 0 3.0 True True a ['x'] [1]",
    ]
    assert done.returncode == 3


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        ("--bogus", "UnrecognizedFlagError: Unknown command line flag 'bogus'"),
        ("--task_index=x", "IllegalFlagValueError: flag --task_index=x"),
        ("--lr=-1", "-1.0 is not a non-negative number"),
        ("--mode=c", "value should be one of <a|b>"),
    ],
)
def test_wrong_flags(argv, words):
    done = run("show()", argv)
    assert done.returncode == 1
    assert words in done.stderr


def test_required_flag():
    required = 'flags.DEFINE_string("must", None, "")\nflags.mark_flag_as_required("must")\n'
    done = run(required + MAIN)
    assert done.returncode == 1
    assert "Flag --must must have a value other than None" in done.stderr


def test_main_given_by_hand():
    done = run("app.run(lambda argv: print(argv, F.lr), ['prog', '--lr=5', 'x'])")
    assert done.stdout.splitlines()[1:] == ["['prog', 'x'] 5.0"]
    assert done.returncode == 0
