"""What cannot be looked at: one clear line and exit status 2, whichever question is asked."""

from __future__ import annotations

import pytest

from cli.commands import EXAMPLES, one_line

WHO = str(EXAMPLES / "who_applies.py")
QUESTIONS = {
    "plain": (),
    "rows": ("--json",),
    "wire": ("--wire",),
    "check": ("--check",),
    "balance": ("--balance",),
    "strategy": ("--strategy", "greedy"),
    "trace": ("--trace", "1"),
    "why": ("--why", "c"),
    "diff": ("--diff", WHO),
    "page": ("--html", "{file}"),
    "dot": ("--dot",),
    "plan": ("--plan",),
}
# name -> (suffix, text, what is said of it)
SOURCES = {
    "fails": (".py", "1 / 0", "failed at {file}:1: ZeroDivisionError: division by zero"),
    "is no Python": (".py", "x = = 1", "failed at {file}:1: SyntaxError: invalid syntax"),
    "builds no graph": (".py", "print('hello')", "has no ops: no graph was built"),
    "never comes to a step": (
        ".py",
        "import minitf as tf\ntf.no_op(name='c')\nwhile True: 0",
        "ran for 0.2 s without a first Session.run; it was at {file}:3",
    ),
    "has no train op": (
        ".py",
        "import minitf as tf\ntf.no_op(name='c')",
        "has no train op; name what to run with --fetch NAME",
    ),
    "is no graph": (".pb", "some text", "it holds no graph"),
    "is empty": (".meta", "", "it holds no graph"),
    "is half a graph": (".pbtxt", "node { name: 'x' ", "it holds no graph"),
}
# Why an op is where it is can be said whatever a step would run.
PAIRS = [(s, q) for s in SOURCES for q in QUESTIONS if (s, q) != ("has no train op", "why")]


def asked(question, tmp_path):
    return [word.format(file=tmp_path / "page.html") for word in QUESTIONS[question]]


@pytest.mark.parametrize(("source", "question"), PAIRS)
def test_a_source_that_cannot_be_looked_at(source, question, tmp_path, capsys):
    suffix, text, said = SOURCES[source]
    file = tmp_path / f"source{suffix}"
    file.write_text(text)
    limit = "0.2" if "ran for" in said else "30"
    args = ["viz", "--limit", limit, "--cluster", "ps=2,worker=1", *asked(question, tmp_path)]
    assert said.format(file=file) in said_of(capsys, *args, file)
    assert not (tmp_path / "page.html").exists()


def said_of(capsys, *args):
    """The one line of `minitf`; what the script itself prints goes before it."""
    from minitf import cli

    assert cli.main([str(arg) for arg in args]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    *printed, line = err.splitlines()
    assert line.startswith("minitf: ")
    assert printed in ([], ["hello"])
    return line


@pytest.mark.parametrize("question", [q for q in QUESTIONS if q not in ("strategy", "diff")])
@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("127.0.0.1:1", "nobody answers at 127.0.0.1:1: Connection refused"),
        ("no-such-host.invalid:2222", "nobody answers at no-such-host.invalid:2222: "),
        ("localhost", "--address: expected HOST:PORT but got 'localhost'"),
    ],
)
def test_an_address_where_nobody_answers(question, address, said, tmp_path, capsys):
    args = asked(question, tmp_path)
    assert said in one_line(capsys, "viz", *args, "--address", address)


def test_a_side_of_a_difference_where_nobody_answers(capsys):
    line = one_line(capsys, "viz", "--diff", "--address 127.0.0.1:1", WHO)
    assert line.startswith("--diff: A: nobody answers at 127.0.0.1:1")
    line = one_line(capsys, "viz", "--diff", WHO, "grpc://127.0.0.1:1")
    assert line.startswith("--diff: B: nobody answers at 127.0.0.1:1")


@pytest.mark.parametrize("question", [q for q in QUESTIONS if q not in ("why", "diff")])
def test_a_step_that_is_not_there(question, tmp_path, capsys):
    args = [*asked(question, tmp_path), "--fetch", "update_W"]
    line = one_line(capsys, "viz", *args, WHO)
    assert "'update_W'" in line
    assert "did you mean Adagrad/update_W/ApplyAdagrad" in line


def test_an_op_that_is_not_there(capsys):
    line = one_line(capsys, "viz", "--why", "W/adagard", WHO)
    assert line.startswith("--why: the graph has no op 'W/adagard'; did you mean W/Adagrad")


@pytest.mark.parametrize("place", ["{1}/missing/x{0}", "{1}", "/dev/null/x{0}"])
@pytest.mark.parametrize(
    ("option", "suffix"),
    [("--html", ".html"), ("--save", ".pb"), ("--save", ".pbtxt"), ("--graphml", ".xml")],
)
def test_a_file_that_cannot_be_written(option, suffix, place, tmp_path, capsys):
    folder = tmp_path / f"folder{suffix}"
    folder.mkdir()
    file = place.format(suffix, folder)
    line = one_line(capsys, "viz", option, file, WHO)
    assert line.startswith(f"{option}: cannot write {file}: ")
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("place", ["{0}/missing/x.json", "{0}"])
def test_a_trace_that_cannot_be_written(place, tmp_path, capsys):
    """It is said before the step runs, not after."""
    file = place.format(tmp_path)
    line = one_line(capsys, "viz", "--trace", "1", "--out", file, WHO)
    assert line.startswith(f"--out: cannot write {file}: ")
