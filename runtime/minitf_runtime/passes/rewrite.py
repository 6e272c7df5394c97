"""Ops that TF takes apart before it places a graph: AccumulateNV2 becomes a temporary variable."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import numpy as np

from minitf_runtime.graph import Graph, Node
from minitf_runtime.passes.frames import ROOT, frames_of, has_loops
from minitf_runtime.types import int32


def rewrite(graph: Graph) -> Graph:
    """The graph with its AccumulateNV2 nodes replaced; the node of the same name gives the sum."""
    if not any(n.op == "AccumulateNV2" for n in graph):
        return graph
    frame_of = frames_of(graph) if has_loops(graph.nodes) else {}
    number = count()
    return Graph(
        piece
        for n in graph
        for piece in (
            (n,)
            if n.op != "AccumulateNV2"
            else _accumulator(n, number)
            if frame_of.get(n.name, ROOT) is ROOT
            else (n.with_(op="AddN"),)  # turns of a loop may overlap and would share the variable
        )
    )


def _accumulator(n: Node, number: Iterator[int]) -> Iterator[Node]:
    """Zeros in a temporary variable, to which each input is added as soon as it is there."""
    dtype, shape = n.output_types[0].base, n.output_shapes[0]
    var, size, zero, zeros, start = (f"{n.name}/Internal/_{next(number)}" for _ in range(5))
    name = f"{n.name}/Internal/Accumulator"
    piece = n.with_(control=(), colocate=(), output_types=(dtype.ref,))
    yield piece.with_(
        name=var,
        op="TemporaryVariable",
        inputs=(),
        input_types=(),
        output_shapes=((0,),),
        attrs={"shape": (0,), "dtype": dtype, "var_name": name},
    )
    yield piece.with_(
        name=size,
        op="Shape",
        inputs=n.inputs[:1],
        input_types=(dtype,),
        output_types=(int32,),
        output_shapes=((None if shape is None else len(shape),),),
        attrs={"T": dtype, "out_type": int32},
    )
    yield piece.with_(
        name=zero,
        op="Const",
        inputs=(),
        input_types=(),
        output_types=(dtype,),
        output_shapes=((),),
        attrs={"value": np.zeros((), dtype.as_numpy_dtype), "dtype": dtype},
    )
    yield piece.with_(
        name=zeros,
        op="Fill",
        inputs=((size, 0), (zero, 0)),
        input_types=(int32, dtype),
        output_types=(dtype,),
        attrs={"T": dtype, "index_type": int32},
    )
    yield piece.with_(
        name=start,
        op="Assign",
        inputs=((var, 0), (zeros, 0)),
        input_types=(dtype.ref, dtype),
        control=n.control,
        attrs={"T": dtype, "validate_shape": False, "use_locking": True},
    )
    adds = []
    for value in n.inputs:
        adds.append(f"{n.name}/Internal/_{next(number)}")
        yield piece.with_(
            name=adds[-1],
            op="AssignAdd",
            inputs=((start, 0), value),
            input_types=(dtype.ref, dtype),
            attrs={"T": dtype, "use_locking": True},
        )
    yield piece.with_(
        op="DestroyTemporaryVariable",
        inputs=((start, 0),),
        input_types=(dtype.ref,),
        output_types=(dtype,),
        control=tuple(adds),
        attrs={"T": dtype, "var_name": name},
    )
