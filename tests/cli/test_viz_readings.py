"""minitf viz --wire, --check and --balance on three programs: rows, text and exit status."""

from __future__ import annotations

import json
import re

import pytest

from cli.commands import EXAMPLES, one_line
from minitf import cli

WHO, PINNED, SYNC = (
    str(EXAMPLES / name) for name in ("who_applies.py", "embedding_pinned.py", "sync_replicas.py")
)
TWO = ("--cluster", "ps=2,worker=2")
PROGRAMS = {"who": WHO, "pinned": PINNED, "sync": SYNC}


@pytest.fixture
def viz(capsys, monkeypatch):
    """The exit status of `minitf viz ARGS`, and what it prints."""
    monkeypatch.setenv("COLUMNS", "80")

    def run(*args: str) -> tuple[int, str]:
        status = cli.main(["viz", *args])
        return status, capsys.readouterr().out

    return run


def rows_of(viz, *args):
    return json.loads(viz("--json", *args)[1])


def short(device):
    return re.sub(r"/job:(\w+)/replica:0/task:(\d+).*", r"\1:\2", device)


def wire_lines(wire):
    return [
        f"{short(r['src'])} {short(r['dst'])} {r['tensor']} {r['bytes']} {r['bytes_per_example']}"
        for r in wire["transfers"]
        if r["kind"] == "data"
    ]


def test_wire_of_who_applies(viz):
    wire = rows_of(viz, "--wire", *TWO, WHO)
    assert wire_lines(wire) == [
        "ps:0 worker:0 W/read 16 0",
        "worker:0 ps:0 gradients/MatMul_grad/tuple/control_dependency_1 16 0",
        "ps:1 worker:0 b/read 4 0",
        "worker:0 ps:0 Adagrad/learning_rate 4 0",
        "worker:0 ps:1 Adagrad/learning_rate 4 0",
        "worker:0 ps:1 gradients/add_grad/tuple/control_dependency_1 4 0",
    ]
    assert (wire["bytes"], wire["bytes_per_example"], wire["unknown"]) == (48, 0, 0)
    assert wire["changes"] == []
    first, gradient, *_ = wire["transfers"]
    assert first["share"] == pytest.approx(16 / 48)
    assert first["consumers"][0] == "MatMul"
    assert "who_applies.py:28" in first["source"]
    assert gradient["optimizer"] == "Adagrad"
    assert len(wire["transfers"]) == 9


def test_wire_of_the_pinned_embedding(viz):
    wire = rows_of(viz, "--wire", *TWO, PINNED)
    assert wire_lines(wire)[0] == "ps:0 worker:0 table/read 25600000 0"
    assert "worker:0 ps:0 gradients/GatherV2_grad/Reshape 0 256" in wire_lines(wire)
    assert (wire["bytes"], wire["bytes_per_example"]) == (25600528, 260)
    (change,) = wire["changes"]
    assert (change["op"], change["change"]) == ("GatherV2", "without the request")
    assert change["bytes"] == 25_600_000
    mended = rows_of(viz, "--wire", *TWO, PINNED, "--", "--mend")
    assert mended["changes"] == []
    # What was foretold is what the mended program sends.
    after = mended["bytes"] + 128 * mended["bytes_per_example"]
    assert change["step_after"] == pytest.approx(after, abs=8)
    filled = rows_of(viz, "--wire", *TWO, PINNED, "--batch", "1024")
    assert filled["bytes"] == 25600528 + 1024 * 260
    assert filled["bytes_per_example"] == 0


def test_wire_of_synchronous_replicas(viz):
    """The step is the worker's: gradients go to accumulators, a token comes back."""
    lines = wire_lines(rows_of(viz, "--wire", *TWO, SYNC))
    assert "ps:0 worker:0 sync_token_q_Dequeue 8 0" in lines
    assert "worker:0 ps:0 gradients/MatMul_grad/tuple/control_dependency_1 16 0" in lines
    assert "worker:0 ps:1 sync_rep_local_step/read 8 0" in lines


def test_check(viz):
    assert viz("--check", *TWO, WHO) == (0, "No hazards found\n")
    assert viz("--check", *TWO, SYNC) == (0, "No hazards found\n")
    status, out = viz("--check", *TWO, PINNED)
    assert status == 1
    assert out.splitlines()[0] == "whole-table  embedding_pinned.py:31"
    assert out.endswith("2 hazards\n")
    status, out = viz("--check", "--json", *TWO, SYNC, "--", "--replicas=3")
    assert status == 1
    (hazard,) = json.loads(out)
    assert hazard["kind"] == "too-few-workers"
    assert hazard["at"].endswith("sync_replicas.py:39")


def test_check_of_another_step(viz):
    """The step that is fetched is checked, not that of the train op."""
    status, _ = viz("--check", *TWO, PINNED, "--fetch", "w/read")
    assert status == 1  # the table is on one ps, whatever runs
    assert "whole-table" not in viz("--check", *TWO, PINNED, "--fetch", "w/read")[1]


@pytest.mark.parametrize("name", PROGRAMS)
def test_balance(viz, name):
    read = rows_of(viz, "--balance", *TWO, PROGRAMS[name])
    sent = sum(t["sends"]["fixed"] for t in read["tasks"])
    assert sent == sum(t["receives"]["fixed"] for t in read["tasks"])
    assert sent == sum(k["size"]["fixed"] for k in read["links"])
    assert sent == rows_of(viz, "--wire", *TWO, PROGRAMS[name])["bytes"]


def test_a_strategy_shows_the_balance(viz):
    _, out = viz("--cluster", "ps=8,worker=64,gpus=4", "--strategy", "greedy", SYNC)
    assert "What each task holds and sends in a step" in out
    assert "If all 64 workers run this step, each has links of this size" in out
    _, other = viz("--cluster", "ps=2,worker=1", "--strategy", "greedy", "--wire", PINNED)
    assert "One step on the wire" in other


@pytest.mark.parametrize("reading", ["--wire", "--check", "--balance"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_text_fits(viz, reading, name):
    _, out = viz(reading, *TWO, PROGRAMS[name])
    assert max(map(len, out.splitlines())) <= 80
    assert not re.search(r"[ \t]$|\033", out, re.M), "padding or colours in a pipe"


def test_text_of_the_wire(viz):
    _, out = viz("--wire", *TWO, PINNED)
    for words in (
        "n is the batch size (--batch N sets it); shares are for n = 128",
        "ps:0 -> worker:0  25,600,000  99.9%  table/read float32[100000x64]",
        "10 transfers; 2 of them only order ops, without bytes (--all names them)",
        "25,600,528+260n bytes a step",
        "'table/read' crosses whole because GatherV2 'GatherV2'",
        "25.6 MB a step; without the request 33.3 kB",
    ):
        assert words in out
    assert "^" not in out
    assert "GradientDescent/NoOp" in viz("--wire", "--all", *TWO, PINNED)[1]


def test_one_device(viz):
    _, out = viz("--wire", str(EXAMPLES / "mlp_single.py"))
    assert out == "No transfers: one device runs the whole step\n"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--wire", "--check", WHO], "not allowed with argument"),
        (["--wire", "--dot", WHO], "--dot: not allowed with --wire, --check or --balance"),
        (["--wire", "--batch", "x", WHO], "--batch: expected a positive number but got 'x'"),
        (["--wire", "--batch", "0", WHO], "--batch: expected a positive number"),
        (["--strategy", "random", WHO], "invalid choice: 'random'"),
        (["--check", "--fetch", "nothing", WHO], "'nothing'"),
    ],
)
def test_wrong_input(capsys, args, words):
    assert words in one_line(capsys, "viz", *args)
