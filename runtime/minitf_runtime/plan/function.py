"""Functions of the graph as Python callables: compiled like a part of one device, to be called with
tensors in the middle of a step."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from minitf_runtime.devices.name import task_of
from minitf_runtime.errors import OpError
from minitf_runtime.graph import Function, Graph, Node
from minitf_runtime.ops.registry import load
from minitf_runtime.passes.ids import id_order
from minitf_runtime.passes.order import step_order
from minitf_runtime.passes.rewrite import rewrite
from minitf_runtime.plan.compile import Program, compile_part
from minitf_runtime.plan.executor import as_op_error
from minitf_runtime.plan.part import Part
from minitf_runtime.plan.state import KernelNode, Resources
from minitf_runtime.plan.step import Step

Call = Callable[[Step, Sequence[Any]], tuple[Any, ...]]


class Functions:
    """Compiles functions for the kernels of one device, whose state is that of one user each."""

    def __init__(self, resources: Resources, passes: tuple[str, ...], device: str = "") -> None:
        self._resources = resources
        self._passes = passes
        self._device = device

    def kernel_node(self, node: Node) -> KernelNode:
        """What the kernel of a node may know, functions on the node's device among it."""
        functions = Functions(self._resources, self._passes, node.device)
        return KernelNode(
            node.name, node.op, node.attrs, node.device, self._resources, node.source, functions
        )

    def step(self) -> Step:
        """A step of its own, for a thread that works beside those of sessions."""
        return Step(random.getrandbits(56))

    def compiled(self, function: Function) -> Call:
        """A function of a step and tensors. Its stateful ops begin anew.

        What it raises names the op that failed, in the text: the op that calls is the error's node.
        """
        nodes = [n.on(self._device) for n in function.nodes]
        load(n.op for n in nodes)
        results = [
            Node(f"_retval_{i}", "_Retval", (source,), device=self._device)
            for i, source in enumerate(function.results)
        ]
        graph = rewrite(Graph((*id_order(nodes), *results)))
        members = tuple(graph[name] for name in step_order(graph))
        part = Part(
            task_of(self._device),
            {self._device: members},
            feeds=function.args,
            fetches=tuple(n.name for n in results),
            passes=self._passes,
        )
        (program,) = compile_part(part, self.kernel_node, lambda device: None)
        return _caller(program, function.name, len(results))


def _caller(program: Program, name: str, results: int) -> Call:
    run = program.run

    def call(step: Step, args: Sequence[Any]) -> tuple[Any, ...]:
        out: list[Any] = [None] * results
        try:
            run(_no_transfers, step, args, out)
        except Exception as e:
            if e is step.error:
                raise
            raise _told(as_op_error(e, program), name) from e
        return tuple(out)

    return call


class _NoTransfers:
    """Stands for the rendezvous: nothing of a function is elsewhere."""

    recv = send = send_to = None


_no_transfers = _NoTransfers()


def _told(error: OpError, name: str) -> OpError:
    """The error of an op in a function as one of the op that calls the function."""
    if error.node is None:
        return error
    at = f", made at {error.source}" if error.source else ""
    text = (
        f"{error.message}\n\t [[{{{{node {error.node}}}}}]]\n"
        f"  op '{error.node}' of the function '{name}'{at}"
    )
    return type(error)(None, None, text)
