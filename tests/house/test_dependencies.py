"""Each dependency is justified, is used, and none is used that is not named."""

from __future__ import annotations

import ast
import sys
from importlib.metadata import packages_distributions, requires
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
OURS = {"minitf", "minitf_runtime"}


def named() -> dict[str, bool]:
    """Distribution that pyproject.toml names -> whether only an extra asks for it."""
    found = [Requirement(line) for line in requires("minitf-graph") or ()]
    return {r.name: r.marker is not None for r in found}


def imported() -> set[str]:
    """Top-level modules of others that the two packages import."""
    found = set()
    for folder in (ROOT / "minitf", ROOT / "runtime"):
        for file in folder.rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if isinstance(node, ast.Import):
                    found |= {alias.name.partition(".")[0] for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and not node.level:
                    found.add((node.module or "").partition(".")[0])
    return found - OURS - sys.stdlib_module_names - {"__future__"}


def test_dependencies_are_those_imported():
    # cupy's distribution is named after the CUDA version and is seldom installed
    homes = packages_distributions() | dict.fromkeys(("cupy", "cupyx"), ["cupy-cuda12x"])
    used = {name for module in imported() for name in homes.get(module, [module])}
    core = {name for name, extra in named().items() if not extra}
    assert used - named().keys() == set(), "not named in pyproject.toml"
    assert core - used == set(), "named in pyproject.toml and never imported"


def test_dependencies_are_justified():
    text = (ROOT / "docs" / "dependencies.md").read_text("utf-8")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {name for name in named() if not any(name in row for row in rows)} == set()
