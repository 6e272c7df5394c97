"""Each example runs as its head says, and does what it promises."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cli.commands import EXAMPLES

TESTED = (
    "custom_placement dataset_sgd distributed_mlp embedding_pinned estimator gpu in_graph "
    "mlp_single sequence_sums sync_replicas who_applies"
)


def run(*command: str, cwd: Path, logs: bool = False) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", *command],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=50,
        env=os.environ | {"MINITF_VERIFY": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert logs or done.stderr == ""
    return done.stdout


@pytest.fixture
def example(tmp_path):
    return lambda name, *args: run(str(EXAMPLES / name), *args, cwd=tmp_path)


def test_all_are_tested():
    assert {file.stem for file in EXAMPLES.glob("*.py")} == set(TESTED.split())


def test_only_the_import_differs_from_tensorflow():
    for file in EXAMPLES.glob("*.py"):
        code = file.read_text()
        assert re.findall(r"^(?:import|from).*minitf.*$", code, re.M) == ["import minitf as tf"]


@pytest.mark.cluster
def test_who_applies(example):
    lines = example("who_applies.py").splitlines()
    places = dict(re.findall(r"^(\S+) +is (?:applied|computed) on (\S+)$", "\n".join(lines), re.M))
    assert places == {
        "Adagrad/update_W/ApplyAdagrad": "/job:ps/replica:0/task:0/device:CPU:0",
        "Adagrad/update_b/ApplyAdagrad": "/job:ps/replica:0/task:1/device:CPU:0",
        "gradients/MatMul_grad/MatMul": "/job:worker/replica:0/task:0/device:CPU:0",
        "gradients/MatMul_grad/MatMul_1": "/job:worker/replica:0/task:0/device:CPU:0",
    }
    # By hand: all errors are -1, so the gradient of each weight and of b is -2; Adagrad starts
    # its sum at 0.1 and moves each by 0.01 * 2 / sqrt(4.1), and x holds four ones and the bias.
    after = (1 - 5 * 0.01 * 2 / 4.1**0.5) ** 2
    assert lines[-1] == f"loss 1.0000 -> {after:.4f}"


def test_mlp_single(example):
    out = example("mlp_single.py")
    losses = [float(x) for x in re.findall(r"loss (\S+)", out)]
    assert losses[-1] < losses[0] / 4
    assert float(out.split()[-1]) > 0.95


@pytest.mark.cluster
def test_in_graph(example):
    out = example("in_graph.py")
    losses = [float(x) for x in re.findall(r"loss (\S+)", out)]
    assert losses[-1] < 1e-4 < 1 < losses[0]
    found = [float(x) for x in out.rpartition("[")[2].rstrip("]\n").split()]
    assert found == pytest.approx([1.0, -2.0, 0.5], abs=0.01)


@pytest.mark.cluster
def test_embedding_pinned(example):
    """The whole table crosses: 100,000 rows of 64 floats; mended, 1024 rows there and back."""
    pinned, mended = (example("embedding_pinned.py", *args) for args in ([], ["--mend"]))
    assert "transfers, 25.87 MB a step" in pinned
    assert "transfers, 0.53 MB a step" in mended
    losses = re.search(r"loss (\S+) -> (\S+)", pinned).groups()
    assert losses == re.search(r"loss (\S+) -> (\S+)", mended).groups()
    assert float(losses[1]) < 0.1 < float(losses[0])


@pytest.mark.cluster
def test_sync_replicas(tmp_path):
    script = str(EXAMPLES / "sync_replicas.py")
    command = ("-m", "minitf", "cluster", "--ps", "2", "--workers", "2", script, "--steps", "30")
    done = subprocess.run(
        [sys.executable, *command], cwd=tmp_path, capture_output=True, text=True, timeout=50
    )
    assert done.returncode == 0, done.stdout + done.stderr
    losses = re.findall(r"worker \d: loss (\S+) -> (\S+)", done.stdout)
    assert len(losses) == 2
    assert all(float(last) < 0.01 < 0.5 < float(first) for first, last in losses), losses


@pytest.mark.cluster
@pytest.mark.parametrize("gpus, said", [("0", "none, the CPU does it"), ("1", "/device:GPU:0")])
def test_gpu(example, monkeypatch, gpus, said):
    monkeypatch.setenv("MINITF_FAKE_GPUS", gpus)
    out = example("gpu.py")
    assert f"GPU: {said}\n" in out
    before, after = map(float, re.search(r"loss (\S+), then (\S+)", out).groups())
    assert after < 0.05 < 1 < before


def test_sequence_sums(example):
    out = example("sequence_sums.py")
    places = re.findall(r"^(\S+) +on (\S+)$", out, re.M)
    assert len(places) == 6
    assert {where for _, where in places} == {"/job:ps/task:0"}
    losses = [float(x) for x in re.findall(r"loss (\S+)", out)]
    assert losses[-1] < 0.01 < 0.1 < losses[0]


def test_custom_placement(example):
    out = example("custom_placement.py")
    assert dict(re.findall(r"^(\S+) +asks for (\S+)$", out, re.M)) == {
        "w": "/job:ps/task:1",
        "w/Momentum": "/job:ps/task:1",
        "b": "/job:ps/task:0",
        "b/Momentum": "/job:ps/task:0",
    }


def test_distributed_mlp_says_what_it_needs(tmp_path):
    command = [sys.executable, EXAMPLES / "distributed_mlp.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=50)
    assert done.returncode == 1
    assert done.stderr.startswith("needs --ps_hosts and --worker_hosts; try: minitf cluster ")


@pytest.mark.cluster
def test_dataset_sgd(tmp_path):
    script = str(EXAMPLES / "dataset_sgd.py")
    command = ["-m", "minitf", "cluster", "--ps", "1", "--workers", "2", script, "--epochs", "5"]
    done = subprocess.run(
        [sys.executable, "-W", "error", *command],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=50,
    )
    assert done.returncode == 0, done.stdout + done.stderr  # stderr has the log of the sessions
    for index in range(2):  # 256 points each, 16 a step, 5 times
        assert f"worker {index} has no more points after 80 steps" in done.stdout
        (last,) = re.findall(rf"worker {index} step 80: \[(.*)\]", done.stdout)
        assert [float(n) for n in last.split()] == pytest.approx([2, -1, 0.5], abs=0.02)


@pytest.mark.cluster
@pytest.mark.parametrize("workers", [1, 3])
def test_distributed_mlp(tmp_path, workers):
    script = str(EXAMPLES / "distributed_mlp.py")
    counts = ("--ps", "2", "--workers", str(workers))
    args = ("--steps", "40", "--print_every", "39")
    out = run("-m", "minitf", "cluster", *counts, script, *args, cwd=tmp_path)
    done = [int(n) for n in re.findall(r"done at global step (\d+)", out)]
    assert len(done) == workers
    assert max(done) == 40 * workers
    for index in range(workers):
        first, last = map(float, re.findall(rf"worker {index} step \d+ loss (\S+)", out))
        assert last < max(first, 0.05)


def test_estimator(tmp_path):
    said = run(str(EXAMPLES / "estimator.py"), cwd=tmp_path, logs=True)
    step, error = re.fullmatch(r"step (\d+) error (\S+)\n", said).groups()
    assert step == "400"
    assert float(error) < 0.1
    assert len(list((tmp_path / "estimator_model" / "export" / "final").iterdir())) == 1


@pytest.mark.cluster
def test_estimator_in_a_cluster(tmp_path):
    script = str(EXAMPLES / "estimator.py")
    tasks = ("--ps", "2", "--workers", "1", "--chief", "--evaluator")
    out = run("-m", "minitf", "cluster", *tasks, script, "--steps", "200", cwd=tmp_path)
    (step,) = re.findall(r"^\[evaluator:0\] step (\d+) error \S+$", out, re.M)
    assert 200 <= int(step) <= 202
