"""examples/distributed_mlp.py runs under TensorFlow 1.15 with its import changed, and agrees."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from cli.commands import EXAMPLES, minitf

pytestmark = [pytest.mark.oracle, pytest.mark.cluster, pytest.mark.slow]

SCRIPT = EXAMPLES / "distributed_mlp.py"
ARGS = ["--steps=20", "--print_every=1"]


def losses(out: str) -> list[float]:
    return [float(x) for x in re.findall(r"step \d+ loss (\S+)", out)]


def run_tensorflow(folder: Path, ports: list[int]) -> str:
    """What the worker prints, with one ps."""
    copy = folder / SCRIPT.name
    copy.write_text(SCRIPT.read_text().replace("import minitf as tf", "import tensorflow as tf"))
    hosts = [f"--{job}_hosts=localhost:{port}" for job, port in zip(("ps", "worker"), ports)]
    command = [os.environ["MINITF_ORACLE"], "-W", "ignore", str(copy), *hosts, *ARGS]
    env = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"}
    with subprocess.Popen([*command, "--job_name=ps"], env=env, stderr=subprocess.DEVNULL) as ps:
        try:
            worker = [*command, "--job_name=worker"]
            return subprocess.check_output(worker, env=env, text=True, timeout=55)
        finally:
            ps.kill()


def test_losses_agree(tmp_path, free_ports):
    theirs = losses(run_tensorflow(tmp_path, free_ports(2)))
    ours = losses(minitf("cluster", SCRIPT, *ARGS).stdout)
    assert len(ours) == len(theirs) == 20
    assert ours == pytest.approx(theirs, abs=1e-5)
