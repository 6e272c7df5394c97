"""`minitf demo`: it trains, shows what ran where, and leaves no process."""

from __future__ import annotations

import hashlib
import re

import numpy as np
import pytest

from cli.commands import all_end, one_line
from minitf import cli
from minitf.cli import demo_task, processes


@pytest.fixture
def pids(monkeypatch):
    """The process ids of all tasks that a command starts."""
    found = []
    start = processes.Processes.start

    def noted(self, *args):
        start(self, *args)
        found.append(self._children[-1].process.pid)

    monkeypatch.setattr(processes.Processes, "start", noted)
    return found


def test_digits():
    with np.load(demo_task.DIGITS) as file:
        images, labels = file["images"], file["labels"]
    assert images.shape == (1797, 8, 8)
    assert images.dtype == labels.dtype == np.uint8
    assert images.max() == 16
    # the class distribution of the test set as the UCI repository states it
    assert np.bincount(labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    assert hashlib.sha256(images.tobytes()).hexdigest()[:16] == "8f26b2bd9d135c25"
    assert "CC BY 4.0" in demo_task.DIGITS.with_name("SOURCE.md").read_text()


def test_mixed_digits_keep_their_labels():
    x, labels = demo_task.digits()
    with np.load(demo_task.DIGITS) as file:
        known = {i.tobytes(): n for i, n in zip(file["images"], file["labels"].tolist())}
    assert [known[(i * 16).astype("u1").tobytes()] for i in x] == labels.tolist()


@pytest.mark.cluster
def test_demo(capfd, monkeypatch, pids):
    monkeypatch.setenv("COLUMNS", "80")
    assert cli.main(["demo", "--steps", "150"]) == 0
    assert len(pids) == 4
    assert all_end(pids)
    out, err = capfd.readouterr()
    assert err == ""
    assert max(map(len, out.splitlines())) <= 80
    assert re.findall(r"step (\d+) of 300, loss \d\.\d+", out) == ["80", "150", "230", "300"]
    for words in (
        "worker:0 computes gradients, in 32 ops",
        "ps:0 applies them: it updates hidden/w, out/w, global_step",
        "ps:1 applies them: it updates hidden/b, out/b",
        "Adagrad/update_out/b/ApplyAdagrad -> out/b",
        "7  worker:0 -> ps:0  gradient of hidden/w  32,768  gradients/MatMul_grad/",
        "13 messages, 76,888 bytes a step",
    ):
        assert words in out
    accuracy = float(out.splitlines()[-1].removeprefix("accuracy "))
    assert 0.93 <= accuracy <= 1


@pytest.mark.cluster
def test_a_task_that_fails_ends_the_demo(capfd, monkeypatch, pids):
    monkeypatch.setattr("minitf.cli.demo.TASK", "minitf.cli.no_such_task")
    assert cli.main(["demo", "--ps", "1", "--workers", "1"]) == 1
    out, err = capfd.readouterr()
    assert "No module named minitf.cli.no_such_task" in out
    assert "ended with status 1, ending all tasks" in err
    assert "accuracy" not in out
    assert all_end(pids)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--ps", "0"], "--ps must be at least 1"),
        (["--workers", "0"], "--workers must be at least 1"),
        (["--steps", "0"], "expected a number of steps, 1 or more, got '0'"),
        (["--steps", "few"], "got 'few'"),
        (["extra"], "unrecognized arguments: extra"),
    ],
)
def test_wrong_input(capsys, args, words):
    assert words in one_line(capsys, "demo", *args)
