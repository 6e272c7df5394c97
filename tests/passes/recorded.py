"""What TensorFlow 1.15.5 did with a set of programs (tests/data/placer), as engine values."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from minitf_runtime.graph import Graph, Node
from minitf_runtime.passes.data import Devices, Partitioned
from minitf_runtime.passes.pipeline import partition_graph
from minitf_runtime.types import as_dtype, resource
from passes.build import only_cpu

DATA = Path(__file__).parents[1] / "data" / "placer"


@cache
def programs() -> dict[str, Any]:
    """Program name -> its graph, cluster, feeds, fetches, placement, partitions, edges, error."""
    return json.loads(gzip.decompress((DATA / "programs.json.gz").read_bytes()))


@cache
def cases() -> dict[str, Any]:
    """The placer cases with GPUs, by name."""
    data = json.loads((DATA / "cases.json").read_text())
    return {case["name"]: {**case, "devices": data["devices"]} for case in data["cases"]}


def with_part(key: str) -> list[str]:
    return sorted(name for name, p in programs().items() if p.get(key))


def devices_of(program: Any) -> Devices:
    """The devices of a program's cluster, those of the client's task first."""
    meta = program["meta"]
    cluster, cpus = meta["cluster"], meta.get("cpus") or {}
    if not cluster:
        tasks = [("localhost", 0)]
        cpus = {"localhost": cpus.get("local", 1)}
    else:
        tasks = [(job, task) for job in sorted(cluster) for task in range(cluster[job])]
        client = tuple(meta["client"])
        tasks.sort(key=lambda t: t != client)
    names = tuple(
        f"/job:{job}/replica:0/task:{task}/device:CPU:{i}"
        for job, task in tasks
        for i in range(cpus.get(job, 1))
    )
    return Devices(names, not cluster, {name: i + 1 for i, name in enumerate(names)})


def graph_of(program: Any) -> Graph:
    return Graph(_node(n) for n in program["graph"])


def _node(n: Any) -> Node:
    shapes = tuple(_shape(s) for s in n["out_shapes"])
    types = tuple(as_dtype(t) for t in n["out_types"])
    attrs = {key: _attr(*value) for key, value in n["attrs"].items()}
    if n["op"] == "Const" and "value" not in attrs:  # too large to be recorded
        attrs["value"] = np.zeros(shapes[0], types[0].as_numpy_dtype)
    return Node(
        n["name"],
        n["op"],
        tuple(tensor(i) for i in n["inputs"] if i[0] != "^"),
        tuple(i[1:] for i in n["inputs"] if i[0] == "^"),
        n["requested"],
        attrs,
        tuple(c.removeprefix("loc:@") for c in n["class"]),
        tuple(as_dtype(t) for t in n["in_types"]),
        types,
        shapes,
        n["line"],
    )


def _attr(kind: str, *value: Any) -> Any:
    if kind == "type":
        return as_dtype(*value)
    if kind == "types":
        return [as_dtype(t) for t in value[0]]
    if kind == "shape":
        return _shape(*value)
    if kind == "shapes":
        return [_shape(s) for s in value[0]]
    if kind == "tensor":
        name, shape, data = value
        data = [v.encode("latin-1") if isinstance(v, str) else v for v in data]
        return np.array(data, as_dtype(name).as_numpy_dtype).reshape(shape)
    return value[0]


def _shape(sizes: Any) -> Any:
    return None if sizes is None else tuple(sizes)


def tensor(text: str) -> tuple[str, int]:
    name, _, index = text.rpartition(":")
    return name, int(index)


def soft(program: Any) -> bool:
    return bool((program["meta"].get("config") or {}).get("allow_soft_placement"))


def cut(name: str, **options: Any) -> Partitioned:
    """Our cut of a program's step."""
    program = programs()[name]
    return partition_graph(
        graph_of(program),
        devices_of(program),
        feeds=program["feeds"],
        fetches=program["fetches"],
        targets=program["targets"],
        soft=soft(program),
        kernel_types=only_cpu,
        **options,
    )


def case_graph(case: Any) -> tuple[Graph, dict[str, str], dict[str, dict[str, int]]]:
    """The graph of a placer case, what is assigned before, and the kernels of each node."""
    nodes = []
    for n in case["nodes"]:
        nodes.append(
            Node(
                n["name"],
                n.get("op", "Op"),
                tuple(tensor(t) for t, _ in n["inputs"]),
                device=n.get("request", ""),
                colocate=tuple(c.removeprefix("loc:@") for c in n.get("cls", ())),
                input_types=tuple(_type(t) for _, t in n["inputs"]),
                output_types=tuple(_type(t) for t in n["outputs"]),
                output_shapes=(None,) * len(n["outputs"]),
                source="model.py:1",
            )
        )
    assigned = {n["name"]: n["assigned"] for n in case["nodes"] if "assigned" in n}
    return Graph(nodes), assigned, {n["name"]: n["kernels"] for n in case["nodes"]}


def _type(text: str) -> Any:
    base, ref, _ = text.partition("_ref")
    dtype = resource if base == "resource" else as_dtype(base)
    return dtype.ref if ref else dtype
