"""What the op registry tells the passes: device types with a kernel for a node, and host memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from minitf_runtime.devices.xla_cpu import XLA_CPU
from minitf_runtime.graph import Node
from minitf_runtime.ops.registry import OPS, Arg, arity, find_kernel, kernel_key
from minitf_runtime.types import resource, string, variant

# Device types with kernels of their own, and TF's order of preference among them.
TYPE_PRIORITY: Mapping[str, int] = {"GPU": 210, "CPU": 70, XLA_CPU: 50}

HOST_TYPES = frozenset(("CPU", XLA_CPU))  # their memory is the host's

# (device type, kernel priority), the preferred type first
TypeList = tuple[tuple[str, int], ...]
KernelTypes = Callable[[Node], Sequence[tuple[str, int]]]


def registered_types(node: Node) -> TypeList:
    """The device types that the registry has a kernel for, with the priority of that kernel."""
    opdef = OPS.get(node.op)
    if opdef is None:
        return ()
    key = kernel_key(node.op, node.attrs)
    found = opdef.device_types.get(key)
    if found is None:
        kernels = [(t, find_kernel(node.op, node.attrs, t)) for t in TYPE_PRIORITY]
        found = tuple((t, k.priority) for t, k in kernels if k is not None)
        opdef.device_types[key] = found
    return found


def by_preference(types: Sequence[tuple[str, int]]) -> TypeList:
    """Sorted by kernel priority, then device type priority, then name."""
    return tuple(sorted(types, key=lambda t: (-t[1], -TYPE_PRIORITY.get(t[0], 0), t[0])))


def input_on_host(node: Node, slot: int, device_type: str) -> bool:
    """Whether the kernel takes this input from host memory."""
    if node.op == "_HostSend" or node.input_types[slot].base in (string, resource, variant):
        return device_type not in HOST_TYPES
    return _declared(node, slot, device_type, False)


def output_on_host(node: Node, index: int, device_type: str) -> bool:
    """Whether the kernel leaves this output in host memory."""
    if node.op == "_HostRecv" or node.output_types[index].base in (string, resource, variant):
        return device_type not in HOST_TYPES
    return _declared(node, index, device_type, True)


def _declared(node: Node, position: int, device_type: str, outputs: bool) -> bool:
    opdef = OPS.get(node.op)
    kernel = find_kernel(node.op, node.attrs, device_type) if opdef is not None else None
    if opdef is None or kernel is None:
        return False
    names = kernel.host_outputs if outputs else kernel.host_inputs
    arg = _argument(opdef.outputs if outputs else opdef.inputs, node, position) if names else None
    return arg is not None and arg.name in names


def _argument(args: Sequence[Arg], node: Node, position: int) -> Arg | None:
    """The argument of the signature that a flat position belongs to."""
    end = 0
    for arg in args:
        end += arity(arg, node.attrs)
        if position < end:
            return arg
    return None
