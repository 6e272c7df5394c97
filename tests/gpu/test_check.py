"""tools/gpu_check.sh: without a GPU, with a fault, too slow, too long; cupy is in one file."""

import importlib
import json
import os
import re
import subprocess
import sys
import time
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


@pytest.fixture
def tool(monkeypatch):
    """tools/gpu_check.py, as a module."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return importlib.import_module("gpu_check")


@pytest.fixture
def rates(tool):
    return importlib.import_module("gpu_rates")


def test_a_rate_is_held_against_the_link(tool, rates):
    report = tool.Report()
    rates.compare(report, "host to GPU", rates.MB, 6.0, 10.0, 0.5)
    rates.compare(report, "GPU to host", rates.MB, 4.0, 10.0, 0.5)
    right, wrong = report.rows
    assert (right["wrong"], wrong["wrong"]) == (False, True)
    assert right["result"].split() == "6.00 of 10.00 GB/s, 60%".split()
    assert wrong["result"].endswith(" 40%; at least 50% was expected")
    assert (wrong["rate"], wrong["limit"], wrong["share"]) == (4.0, 10.0, 0.4)


def test_a_slow_copy_is_wrong(tool, rates, fake, monkeypatch):
    """The limits are those of this machine; only the way to the host dawdles."""
    device = fake()
    to_host = device.to_host
    monkeypatch.setattr(device, "to_host", lambda array: time.sleep(0.2) or to_host(array))
    report = tool.Report()
    for name, act, bare in rates.copies(device, rates.MB):
        got, limit = rates.rate(rates.MB, act), rates.rate(rates.MB, bare)
        rates.compare(report, name, rates.MB, got, limit, 1e-4 if name == "host to GPU" else 0.05)
    assert [row["wrong"] for row in report.rows] == [False, True]


def test_the_bare_socket_takes_all_bytes(rates):
    with rates.bare_socket(3 * rates.MB) as across:
        assert rates.rate(3 * rates.MB, across) > 0


PARTS = "check_ops check_optimizers check_digits check_speed check_rates".split()


@pytest.fixture
def parts(tool, monkeypatch):
    """Every part does nothing but add a right row."""
    for name in PARTS:
        monkeypatch.setattr(
            tool, name, lambda report, *_, name=name: report.add("part", name, "fine")
        )
    return tool


def test_all_well(parts, tmp_path):
    out = tmp_path / "check.json"
    assert parts.check(out, True) == 0
    assert [row["name"] for row in json.loads(out.read_text())["rows"]] == PARTS
    assert [p.name for p in tmp_path.iterdir()] == ["check.json"]


def fail(*args):
    raise OSError("the card has gone")


@pytest.mark.parametrize("part", PARTS)
def test_a_part_that_fails_does_not_hide_the_others(parts, tmp_path, monkeypatch, part):
    monkeypatch.setattr(parts, part, fail)
    out = tmp_path / "check.json"
    assert parts.check(out, True) == 1
    rows = json.loads(out.read_text())["rows"]
    assert len(rows) == len(PARTS)
    assert [r["result"] for r in rows if r["wrong"]] == ["OSError: the card has gone"]


def test_a_wrong_kernel_is_found(tool, monkeypatch):
    right = tool.results

    def wrong(name, case, device):
        got = right(name, case, device)
        return [x + 1 for x in got] if (name, device) == ("Tanh", "/gpu:0") else got

    monkeypatch.setattr(
        tool, "cases", lambda cases=tool.cases: (c for c in cases() if "Ta" in c[0])
    )
    monkeypatch.setattr(tool, "results", wrong)
    report = tool.Report()
    tool.check_ops(report, 60)
    assert {row["name"] for row in report.rows if row["wrong"]} == {"Tanh"}


def test_json_is_written_whole_or_not_at_all(tool, tmp_path):
    out = tmp_path / "check.json"
    tool.write_whole(out, {"rows": []})
    with pytest.raises(TypeError):
        tool.write_whole(out, {"rows": [object()]})
    assert json.loads(out.read_text()) == {"rows": []}
    assert [p.name for p in tmp_path.iterdir()] == ["check.json"]


def test_it_stops_when_time_is_up(tmp_path):
    """Far from done after so short a time."""
    out = tmp_path / "check.json"
    command = ["bash", "tools/gpu_check.sh", "--quick", "--limit", "0.2", "--out", str(out)]
    env = os.environ | {"PYTHON": sys.executable, "MINITF_FAKE_GPUS": "1"}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=50)
    assert done.returncode == 4
    assert done.stderr.startswith("gpu_check: stopped after 0.2 s: the last line above tells")
    assert not out.exists()


def test_a_step_that_hangs_is_ended_with_what_it_started(tool, capfd, tmp_path):
    hangs = tmp_path / "hangs.py"
    hangs.write_text(
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    assert tool.within(1.0, [sys.executable, str(hangs)]) == tool.STOPPED
    out, err = capfd.readouterr()
    assert "stopped after 1 s" in err
    deadline = time.monotonic() + 10
    while is_running(int(out)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_running(int(out))


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("status", [0, 1, 3])
def test_the_status_is_that_of_the_checks(tool, status):
    assert tool.within(20.0, [sys.executable, "-c", f"raise SystemExit({status})"]) == status


def test_cupy_is_imported_in_one_file():
    importing = re.compile(r"^\s*(?:import|from) cupyx?\b", re.M)
    files = [*ROOT.glob("minitf/**/*.py"), *ROOT.glob("runtime/**/*.py"), *ROOT.glob("tools/*.py")]
    named = [str(f.relative_to(ROOT)) for f in files if importing.search(f.read_text("utf-8"))]
    assert named == ["runtime/minitf_runtime/devices/gpu.py"]
