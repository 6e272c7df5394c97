"""How commands are found and called, and what a user sees of wrong input."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import pytest

from minitf import cli
from minitf.cli.errors import UserError
from minitf_runtime.version import VERSION


@pytest.fixture
def greet(monkeypatch):
    """A command `greet NAME [--status N]`; its module."""
    module = ModuleType("minitf.cli.greet", "Says hello.\n\nAnd more.")
    module.run = lambda args: print("hello", args.name) or args.status

    def prepare_parser(parser):
        parser.add_argument("name")
        parser.add_argument("--status", type=int, default=0)

    module.prepare_parser = prepare_parser
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(cli, "COMMANDS", ("greet",))
    return module


def fails_with(error):
    def run(args):
        raise error

    return run


def test_runs_a_command_and_returns_its_status(greet, capsys):
    assert cli.main(["greet", "you", "--status", "3"]) == 3
    assert capsys.readouterr().out == "hello you\n"


def test_help_has_the_first_line_of_the_docstring(greet, capsys):
    assert cli.main([]) == 0
    out = capsys.readouterr().out
    assert "greet" in out
    assert "Says hello." in out
    assert "And more" not in out


def test_version(capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"minitf {VERSION}\n"


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["gret"], "invalid choice: 'gret'"),
        (["--nonsense"], "unrecognized arguments: --nonsense"),
        (["greet"], "required: name (see minitf greet --help)"),
        (["greet", "you", "--status", "x"], "invalid int value: 'x'"),
    ],
)
def test_wrong_arguments_are_one_line_and_status_2(greet, capsys, argv, words):
    assert cli.main(argv) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("minitf: ")
    assert words in err
    assert err.count("\n") == 1


def test_user_error_is_one_line(greet, capsys):
    greet.run = fails_with(UserError("no such file 'x.py'\n  give a script"))
    assert cli.main(["greet", "you"]) == 2
    assert capsys.readouterr().err == "minitf: no such file 'x.py' give a script\n"


def test_other_errors_keep_their_traceback(greet):
    greet.run = fails_with(ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        cli.main(["greet", "you"])


def test_interrupt_is_130(greet):
    greet.run = fails_with(KeyboardInterrupt())
    assert cli.main(["greet", "you"]) == 130


def test_closed_pipe_is_silent():
    program = """
import sys, types
from minitf import cli
talk = types.ModuleType("minitf.cli.talk", "Talks.")
talk.prepare_parser = lambda parser: None
talk.run = lambda args: [print("word") for _ in range(100)] and 0
sys.modules[talk.__name__] = talk
cli.COMMANDS = ("talk",)
sys.stdin.read()
sys.exit(cli.main(["talk"]))
"""
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        process.stdout.close()
        process.stdin.close()
        assert process.stderr.read() == b""
        assert process.wait() == 1


def test_python_m_minitf():
    command = [sys.executable, "-m", "minitf", "--version"]
    assert subprocess.check_output(command, text=True) == f"minitf {VERSION}\n"
