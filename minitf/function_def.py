"""Functions of the graph as FunctionDef messages, in the library of a GraphDef.

Back: function_library.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from minitf.proto.graph import FunctionDef, FunctionDefLibrary, NodeDef
from minitf_runtime.graph import Function, Node
from minitf_runtime.ops.registry import OPS, arity, op_def


def functions_of(nodes: Iterable[Node]) -> Iterator[Function]:
    """The functions that nodes call, and those that these call."""
    for node in nodes:
        for value in node.attrs.values():
            if isinstance(value, Function):
                yield value
                yield from functions_of(value.nodes)


def add_to_library(library: FunctionDefLibrary, nodes: Iterable[Node], fill: Any) -> None:
    """Puts the functions that nodes call into a library; fill(message, node) makes a NodeDef."""
    by_name = {f.name: f for f in functions_of(nodes)}
    for function in by_name.values():
        _fill_function(library.function.add(), function, fill)


def _fill_function(made: FunctionDef, function: Function, fill: Any) -> None:
    by_name = {n.name: n for n in function.nodes}
    names = _Names()
    args = {name: names.new(name) for name in function.args}
    made.signature.name = function.name
    for name, shown in args.items():
        arg = made.signature.input_arg.add()
        arg.name, arg.type = shown, by_name[name].output_types[0].number
    for source, index in function.results:
        out = made.signature.output_arg.add()
        out.name = names.new(source)
        out.type = by_name[source].output_types[index].base.number
        made.ret[out.name] = args.get(source) or _output(by_name[source], index)
    for n in function.nodes:
        if n.name not in args:
            node = made.node_def.add()
            fill(node, n)
            _rename_inputs(node, n, args, by_name)
            if n.op in OPS and OPS[n.op].stateful:
                made.signature.is_stateful = True
                made.signature.control_output.append(n.name)
                made.control_ret[n.name] = n.name


def _rename_inputs(
    made: NodeDef, n: Node, args: Mapping[str, str], by_name: Mapping[str, Node]
) -> None:
    """A function calls its tensors 'node:output:number', and its arguments by name."""
    data = [args.get(source) or _output(by_name[source], i) for source, i in n.inputs]
    control = [f"^{name}" for name in n.control if name not in args]
    del made.input[:]
    made.input.extend(data + control)


def _output(n: Node, index: int) -> str:
    """The name of an output: that of the argument of the op's signature, and its place in it."""
    for arg in op_def(n.op).outputs:
        size = arity(arg, n.attrs)
        if index < size:
            return f"{n.name}:{arg.name}:{index}"
        index -= size
    raise ValueError(f"'{n.name}' ({n.op}) has no output {index} more")


class _Names:
    """Names for arguments and results: of small letters, digits and underscores, each once."""

    def __init__(self) -> None:
        self._used: set[str] = set()

    def new(self, name: str) -> str:
        base = re.sub(r"^[^a-z]+", "", re.sub(r"[^a-z0-9]", "_", name.lower())) or "unknown"
        made, i = base, 0
        while made in self._used:
            i += 1
            made = f"{base}_{i}"
        self._used.add(made)
        return made
