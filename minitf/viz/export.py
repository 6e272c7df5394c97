"""A step for other programs: the cut as a networkx graph, the placed graph as a GraphDef."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minitf.viz.rows import edge_meaning, shape_text
from minitf_runtime.graph import CONTROL, Graph
from minitf_runtime.passes.data import Partitioned
from minitf_runtime.types import DType, Shape, nbytes, string

if TYPE_CHECKING:
    import networkx


def to_networkx(cut: Partitioned) -> networkx.MultiDiGraph:
    """The partitioned graph: nodes with op, device, role, source; edges with what they carry.

    A transfer is the edge from a _Send to its _Recv, so there is one for each message. Values are
    str, int and bool, as GraphML wants them; an edge has no `bytes` where they are not known.
    """
    import networkx

    graph = networkx.MultiDiGraph()
    everything = Graph(n for nodes in cut.parts.values() for n in nodes)
    for n in everything:
        graph.add_node(n.name, op=n.op, device=n.device, role=n.role, source=n.source)
    for n in everything:
        for name, slot in n.inputs:
            made = everything[name]
            carried = _tensor(slot, made.output_types[slot].base, made.output_shapes[slot])
            graph.add_edge(name, n.name, transfer=False, meaning="", **carried)
        for name in n.control:
            graph.add_edge(name, n.name, transfer=False, meaning="", **_CONTROL)
    for e in cut.edges:
        carried = _CONTROL if e.slot == CONTROL else _tensor(e.slot, e.dtype, e.shape)
        graph.add_edge(e.send, e.recv, transfer=True, meaning=edge_meaning(cut, e), **carried)
    return graph


def write_graph_def(cut: Partitioned, file: str) -> None:
    """Writes the graph that was placed, each op with its full device: text if FILE is a .pbtxt.

    Raises OpError naming the file.
    """
    from minitf.node_def import graph_def
    from minitf.train.graph_io import write_message

    write_message(graph_def(cut.whole, add_shapes=True), file, file.endswith(".pbtxt"))


_CONTROL = {"slot": CONTROL, "dtype": "", "shape": "", "bytes": 0}


def _tensor(slot: int, dtype: DType, shape: Shape) -> dict[str, Any]:
    size = None if dtype is string else nbytes(dtype, shape)
    known = {} if size is None else {"bytes": size}
    return {"slot": slot, "dtype": dtype.name, "shape": shape_text(shape), **known}
