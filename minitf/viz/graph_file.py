"""A graph as it was saved: GraphDef or MetaGraphDef, binary or text, of TensorFlow or of minitf."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from minitf.graph import Graph
from minitf.importer import import_graph_def
from minitf.operation import Operation
from minitf.proto.graph import GraphDef
from minitf.proto.meta_graph import MetaGraphDef
from minitf.proto.text import ParseError, merge_text
from minitf.train.cluster_spec import ClusterSpec
from minitf.train.meta_graph import import_meta_graph
from minitf.viz.capture import Captured
from minitf.viz.unreadable import Unreadable
from minitf_runtime.devices.name import parse_strict
from minitf_runtime.errors import OpError
from minitf_runtime.session import SessionOptions
from minitf_runtime.storage.files import read_whole
from minitf_runtime.storage.protobuf import DecodeError

SUFFIXES = (".pb", ".pbtxt", ".meta")
VARIABLES = ("Variable", "VariableV2", "VarHandleOp")
UPDATES = ("Apply", "ResourceApply", "SparseApply", "ResourceSparseApply")


def read_graph_file(
    file: str,
    cluster: Mapping[str, Sequence[str]] | None,
    task: tuple[str, int] | None,
    gpus: int = 0,
) -> Captured:
    """The graph of a file, binary or text.

    A file holds no user's lines and no roles: what an op is for is told by its type and name.
    Raises Unreadable.
    """
    try:
        message = _parsed(read_whole(file))
        graph = _imported(message)
    except OpError as e:
        raise Unreadable(f"{file}: {e.message}") from None
    except (ValueError, TypeError) as e:
        raise Unreadable(f"{file}: {e}") from None
    for op in graph.get_operations():
        op._role = _role(op)
        op._source, op._asked = ("", 0, ""), ()
    made = looked_at(graph, cluster, task, gpus)
    made.origin = file
    return made


def looked_at(
    graph: Graph,
    cluster: Mapping[str, Sequence[str]] | None = None,
    task: tuple[str, int] | None = None,
    gpus: int = 0,
) -> Captured:
    """A graph as seen by one task. Without `cluster` it has the tasks and GPUs that its devices
    name; every task has the CPUs that any of them names."""
    named = {op.device for op in graph.get_operations()}
    spec = ClusterSpec(cluster) if cluster else cluster_of(named)
    gpus = gpus if cluster or gpus else _most(named, "GPU")
    made = Captured(_own_task(spec, task), spec, True, gpus, graph)
    made.options = SessionOptions(cpus=max(_most(named, "CPU"), 1))
    made.origin = "the graph"
    return made


def _parsed(data: bytes) -> Any:
    """Whichever of the two messages it is."""
    failed = "it holds no graph"
    for kind in (GraphDef, MetaGraphDef):
        try:
            made = _message(data, kind)
        except (DecodeError, ParseError, ValueError) as e:
            failed = str(e)
            continue
        nodes = (made if kind is GraphDef else made.graph_def).node
        if len(nodes) and all(n.name and n.op for n in nodes):
            return made
    raise Unreadable(f"it holds no graph ({failed})" if "no graph" not in failed else failed)


def _message(data: bytes, kind: Any) -> Any:
    try:
        return kind.FromString(data)
    except DecodeError as binary_error:
        try:
            text = data.decode()
        except UnicodeDecodeError:
            raise binary_error from None
    return merge_text(text, kind())


def _imported(message: Any) -> Graph:
    with Graph().as_default() as graph:
        if isinstance(message, GraphDef):
            import_graph_def(message, name="")
        else:
            import_meta_graph(message)
    return graph


def _role(op: Operation) -> str:
    """What an op is for, by the conventions of optimizers and tf.gradients."""
    if op.type in VARIABLES:
        return "slot" if "/" in op.name and op._class else "variable"
    if op.type.startswith(UPDATES):
        return "apply"
    scopes = op.name.split("/")[:-1]
    if any(s == "gradients" or s.startswith("gradients_") for s in scopes):
        return "gradient"
    if any(s.startswith("save") for s in scopes[:1]):
        return "save"
    return "init" if op.name.rpartition("/")[2] in ("Assign", "init") else "forward"


def cluster_of(devices: Iterable[str]) -> ClusterSpec | None:
    """The tasks that these devices name, with made-up addresses; None if they name no job."""
    sizes: dict[str, int] = {}
    for device in set(devices):
        name = parse_strict(device)
        if name is not None and name.job is not None and name.job != "localhost":
            sizes[name.job] = max(sizes.get(name.job, 1), (name.task or 0) + 1)
    port = iter(range(1, 1 + sum(sizes.values())))
    hosts = {job: [f"localhost:{next(port)}" for _ in range(n)] for job, n in sorted(sizes.items())}
    return ClusterSpec(hosts) if hosts else None


def _most(devices: Iterable[str], kind: str) -> int:
    """How many devices of a type a task needs for all of these to be there."""
    names = [parse_strict(device) for device in devices]
    return max((1 + (n.index or 0) for n in names if n is not None and n.type == kind), default=0)


def _own_task(spec: ClusterSpec | None, task: tuple[str, int] | None) -> tuple[str, int]:
    """The task asked for, or a worker, or whoever comes last: variables are on the others."""
    if task is not None or spec is None:
        return task or ("worker", 0)
    return ("worker" if "worker" in spec.jobs else spec.jobs[-1]), 0
