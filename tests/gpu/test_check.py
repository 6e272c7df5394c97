"""tools/gpu_check.sh: what it says without a GPU, and that cupy is named in one file."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def without_gpu(tmp_path):
    """An environment with the usual commands and no nvidia-smi."""
    for command in ("dirname", "grep", "sh", "bash"):
        found = next(
            Path(p, command)
            for p in os.defpath.split(":") + ["/usr/bin", "/bin"]
            if Path(p, command).exists()
        )
        (tmp_path / command).symlink_to(found)
    return {k: v for k, v in os.environ.items() if k != "MINITF_FAKE_GPUS"} | {
        "PATH": str(tmp_path)
    }


def test_without_a_gpu_it_says_so(without_gpu):
    command = ["bash", "tools/gpu_check.sh"]
    done = subprocess.run(command, cwd=ROOT, env=without_gpu, capture_output=True, text=True)
    assert done.returncode == 3
    assert done.stderr.startswith("gpu_check: no NVIDIA GPU on this machine")
    assert done.stdout == ""


def test_a_driver_that_is_too_old(without_gpu, tmp_path):
    smi = tmp_path / "nvidia-smi"
    smi.write_text('#!/bin/sh\necho "GPU 0: a card"\necho "| CUDA Version: 10.2 |"\n')
    smi.chmod(0o755)
    for command in ("sed", "head"):
        (tmp_path / command).symlink_to(Path("/usr/bin") / command)
    done = subprocess.run(
        ["bash", "tools/gpu_check.sh"], cwd=ROOT, env=without_gpu, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "the driver is for CUDA '10'; cupy needs one for CUDA 12 or 13" in done.stderr


def test_cupy_is_imported_in_one_file():
    importing = re.compile(r"^\s*(?:import|from) cupyx?\b", re.M)
    files = [*ROOT.glob("minitf/**/*.py"), *ROOT.glob("runtime/**/*.py"), *ROOT.glob("tools/*.py")]
    named = [str(f.relative_to(ROOT)) for f in files if importing.search(f.read_text("utf-8"))]
    assert named == ["runtime/minitf_runtime/devices/gpu.py"]
