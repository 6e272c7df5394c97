"""The wheel holds both packages and their data, and works in a fresh environment."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from minitf.cli import COMMANDS

ROOT = Path(__file__).parents[2]
PROGRAM = """
import minitf as tf
x = tf.placeholder(tf.float32, [2])
with tf.Session() as sess:
    print(sess.run(x * 2.0, {x: [1.0, 2.0]}).tolist(), tf.__file__)
"""

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


def run(*command: str | Path, cwd: Path = ROOT) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel that was built from it."""
    out = tmp_path_factory.mktemp("built")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT)
    return out


@pytest.fixture(scope="module")
def fresh(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs' folder of an environment that has the wheel, and our dependencies by a path."""
    home = tmp_path_factory.mktemp("fresh")
    venv.create(home, with_pip=False)
    programs = home / "bin"
    (wheel,) = built.glob("*.whl")
    run(
        *(sys.executable, "-m", "pip", "--python", programs / "python"),
        *("install", "--quiet", "--no-deps", "--no-index", wheel),
    )
    (site,) = home.glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return programs


def source_files() -> set[str]:
    """What both packages consist of, as paths inside a wheel."""
    return {
        str(file.relative_to(root))
        for root, package in ((ROOT, "minitf"), (ROOT / "runtime", "minitf_runtime"))
        for file in (root / package).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }


def test_wheel_holds_every_source_file(built):
    (wheel,) = built.glob("minitf_graph-*.whl")
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert inside == source_files()


def test_sdist_holds_sources_and_licence(built):
    (sdist,) = built.glob("minitf_graph-*.tar.gz")
    with tarfile.open(sdist) as tar:
        inside = {name.partition("/")[2] for name in tar.getnames()}
    assert {"LICENSE", "README.md", "pyproject.toml", "minitf/cli/__init__.py"} <= inside
    assert "runtime/minitf_runtime/version.py" in inside


def test_command_of_the_wheel(fresh, tmp_path):
    assert run(fresh / "minitf", "--version", cwd=tmp_path).startswith("minitf 0.")


def test_session_of_the_wheel(fresh, tmp_path):
    values, file = run(fresh / "python", "-W", "error", "-c", PROGRAM, cwd=tmp_path).rsplit(" ", 1)
    assert values == "[2.0, 4.0]"
    assert str(fresh.parent) in file


@pytest.mark.skipif("demo" not in COMMANDS, reason="no command demo")
@pytest.mark.cluster
def test_demo_of_the_wheel(fresh, tmp_path):
    assert "accuracy" in run(fresh / "minitf", "demo", "--quick", cwd=tmp_path)
