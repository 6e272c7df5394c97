"""Imports go one way only, and `import minitf` loads nothing slow."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from house.imports import Import, cycle, imports_of, modules_of

ROOT = Path(__file__).parents[2]
PACKAGES = ROOT / "minitf", ROOT / "runtime" / "minitf_runtime"

# Left of `>` may import what is right of it; those between two `>` may import each other.
# `minitf` is the client's own __init__.
CLIENT = (
    "cli viz __main__ > alias > minitf"
    "> train compat contrib distributions estimator examples data layers losses metrics summary"
    " bitwise debugging image io linalg math nn python python_io queue random rnn saved_model sets"
    " signal sparse spectral strings"
    "> session fetches test test_case importer function_library graph_util"
    "> gradients"
    "> ops variables variable_scope template behavior initializers indexed_slices sparse_tensor"
    "> graph func_graph operation scopes lookup default convert tensor_spec tensor_util"
    "> stacks source device_spec node_def function_def scoped_names nest tensor_shape errors"
    " options proto timeline app flags gfile tf_logging gpus lazily record_files version",
)
ENGINE = (
    "session > server > plan > passes > ops > devices graph storage"
    "> types threads > errors garbage version",
    "server > transport > threads wire > types",
)
SLOW = {
    "networkx",
    "rich",
    "zmq",
    "scipy",
    "tensorboard",
    "absl",
    "cupy",
    "asyncio",
    "multiprocessing",
    "minitf_runtime.passes",  # what runs a step comes with the first session
    "minitf_runtime.server.master",
    "minitf_runtime.wire",
    "minitf_runtime.ops.late",  # ops of files and pictures come with the first of them
    "minitf_runtime.ops.readers",
    "minitf_runtime.ops.image_resize",
    "minitf_runtime.ops.datasets",
    "minitf.data.dataset",
    "minitf.ops.parsing",
    "minitf.ops.readers",
    "minitf.ops.image",
    "minitf.estimator.estimator",
    "minitf.estimator.run_config",
}


def reach(chains: tuple[str, ...]) -> dict[str, set[str]]:
    """What each part of a package may import."""
    below: dict[str, set[str]] = {}
    for chain in chains:
        groups = [set(group.split()) for group in chain.split(">")]
        for i, group in enumerate(groups):
            for part in group:
                below.setdefault(part, set()).update(*groups[i:])
    for _ in below:
        for parts in below.values():
            parts.update(*(below[part] for part in tuple(parts)))
    return below


MAY = {"minitf": reach(CLIENT), "minitf_runtime": reach(ENGINE)}


def part_of(module: str) -> tuple[str, str]:
    package, _, rest = module.partition(".")
    return package, rest.partition(".")[0] or package


def wrong(edge: Import) -> str:
    """What is wrong with an import, or ''."""
    (package, part), (target_package, target) = part_of(edge.module), part_of(edge.target)
    at = f"{edge.module}:{edge.line} imports {edge.target}"
    if package != target_package:
        return f"{at}: the engine knows no client" if package == "minitf_runtime" else ""
    if package == part == "minitf_runtime" or target == "minitf_runtime":
        return ""  # the engine's __init__ is empty of imports or a list of them
    return "" if target in MAY[package].get(part, ()) else f"{at}: against the order of layers"


def faults(modules: dict[str, Path]) -> list[str]:
    parts = {part_of(module) for module in modules} - {("minitf_runtime", "minitf_runtime")}
    homeless = [f"{a}.{b} is in no layer" for a, b in sorted(parts) if b not in MAY[a]]
    edges = imports_of(modules)
    circle = cycle(edges)
    return homeless + [w for e in edges if (w := wrong(e))] + [" -> ".join(circle)] * bool(circle)


def test_imports_go_one_way():
    modules = modules_of(*PACKAGES)
    assert "minitf.graph" in modules
    assert "minitf_runtime.graph" in modules
    assert faults(modules) == []


def planted(tmp_path: Path, **files: str) -> list[str]:
    """The faults of two small packages; `minitf__ops__math="..."` is minitf/ops/math.py."""
    for name, text in files.items():
        file = tmp_path / (name.replace("__", "/") + ".py")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return faults(modules_of(tmp_path / "minitf", tmp_path / "minitf_runtime"))


def test_sees_an_import_against_the_order(tmp_path):
    found = planted(
        tmp_path,
        minitf__session="from minitf import graph\n",
        minitf__graph="def run():\n    from .session import Session\n",
    )
    assert found == ["minitf.graph:2 imports minitf.session: against the order of layers"]


def test_sees_the_engine_import_the_client(tmp_path):
    found = planted(tmp_path, minitf__graph="", minitf_runtime__graph="import minitf.graph\n")
    assert found == ["minitf_runtime.graph:1 imports minitf.graph: the engine knows no client"]


def test_branches_of_the_engine_are_apart(tmp_path):
    found = planted(
        tmp_path,
        minitf_runtime__wire__messages="import minitf_runtime.plan.step\n",
        minitf_runtime__plan__step="import minitf_runtime.types\n",
        minitf_runtime__types="",
    )
    assert [text.partition(" ")[0] for text in found] == ["minitf_runtime.wire.messages:1"]


def test_sees_a_circle_but_not_a_lazy_one(tmp_path):
    files = dict(
        minitf__graph="from minitf.scopes import x\n", minitf__scopes="import minitf.graph"
    )
    assert planted(tmp_path, **files) == ["minitf.graph -> minitf.scopes -> minitf.graph"]
    files["minitf__scopes"] = "def f():\n    import minitf.graph\n"
    assert planted(tmp_path, **files) == []


def test_sees_a_module_without_a_layer(tmp_path):
    assert planted(tmp_path, minitf__junk="") == ["minitf.junk is in no layer"]


def test_import_minitf_loads_nothing_slow():
    program = f"import sys, minitf; print({SLOW} & sys.modules.keys())"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert loaded.stdout.strip() == "set()", loaded.stdout + loaded.stderr


def test_the_engine_never_loads_the_client():
    names = [name for name in modules_of(PACKAGES[1]) if not name.endswith("__main__")]
    program = f"import sys, {', '.join(names)}; print('minitf' in sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert loaded.stdout.strip() == "False", loaded.stdout + loaded.stderr
