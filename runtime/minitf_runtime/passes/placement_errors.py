"""The placer's errors, in TF's words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from minitf_runtime.devices.gpu import why_none
from minitf_runtime.devices.name import DeviceName, parse_strict
from minitf_runtime.devices.xla_cpu import COMPILED_OPS, XLA_CPU
from minitf_runtime.errors import InternalError, InvalidArgumentError, OpError
from minitf_runtime.graph import Node
from minitf_runtime.ops.registry import OPS, Kernel
from minitf_runtime.passes.colocation import NoCommonType
from minitf_runtime.passes.kernels import KernelTypes
from minitf_runtime.types import DType, show_shape

_C_NAMES = {"float16": "half", "float32": "float", "float64": "double"}


def mention(n: Node) -> str:
    """A node with the user's line that made it."""
    return f"node {n.name} (defined at {n.source})" if n.source else f"node {n.name}"


def malformed(n: Node) -> OpError:
    return _invalid(n, f"Malformed device specification '{n.device}' in node: {mention(n)}")


def no_kernel(n: Node, present: Iterable[str | None]) -> OpError:
    types = ", ".join(sorted(str(t) for t in present))
    return _invalid(
        n,
        f"No OpKernel was registered to support Op '{n.op}' used by {mention(n)} with these attrs: "
        f"[{_show_attrs(n)}]\nRegistered devices: [{types}]\n"
        f"Registered kernels:\n{_registered_kernels(n.op)}",
    )


def lost_device(device: str, available: Iterable[str]) -> OpError:
    return InternalError(
        None,
        None,
        f"Assigned device '{device}' does not match any device. Here are the devices available: "
        f"[{', '.join(available)}]",
    )


def assigned_without_kernel(n: Node, device: str) -> OpError:
    text = f"Assigned device '{device}' does not have registered OpKernel support for {n.op}"
    return _about(n, InternalError(None, None, text))


def two_devices(
    what: str, source: DeviceName, user: DeviceName, source_node: Node, user_node: Node
) -> OpError:
    """A reference or handle edge joins two groups that are each bound elsewhere."""
    return _about(
        user_node,
        InvalidArgumentError(
            None,
            None,
            "Cannot place the graph because a reference or resource edge connects colocation "
            f"groups with incompatible {what} devices: {source} vs {user}. The edge src node is "
            f"{source_node.name} , and the dst node is {user_node.name}",
        ),
    )


def not_together(
    n: Node,
    other: Node,
    members: Sequence[Node],
    other_members: Sequence[Node],
    cause: ValueError,
    kernel_types: KernelTypes,
    by_reference: bool,
) -> OpError:
    """Two groups that have to be one cannot be."""
    text = f"Cannot colocate nodes {_with_scopes(n)} and {_with_scopes(other)}"
    if isinstance(cause, NoCommonType):
        text += (
            " because no device type supports both of those nodes and the other nodes colocated "
            f"with them.{_debug(members, kernel_types)}{_debug(other_members, kernel_types)}"
        )
    else:
        text += f": {cause}"
    if by_reference:
        text = (
            "Nodes were connected by a reference connection (requiring them to be on the same "
            f"device), but the two nodes were assigned two different devices: {text}"
        )
    return _invalid(other if by_reference else n, text)


def nowhere(
    n: Node,
    asked: DeviceName,
    available: Mapping[str, DeviceName],
    members: Sequence[Node],
    kernel_types: KernelTypes,
) -> OpError:
    """No device is left for a node. `asked` is what its whole group asks for."""
    head = f"Cannot assign a device for operation {n.name}: "
    debug = _debug(members, kernel_types)
    if not asked:
        types = ", ".join(_type_name(t) for t in n.input_types)
        return _invalid(
            n,
            f"{head}Node had no OpKernel registered to support this operation: Operation was "
            f"{n.op} and inputs were [{types}].\n{debug}",
        )
    unsatisfied = f"{head}Could not satisfy explicit device specification '{n.device}'"
    if parse_strict(n.device) != asked:
        return _invalid(
            n,
            f"{unsatisfied} because the {_with_scopes(n)} was colocated with a group of nodes that "
            f"required incompatible device '{asked}'. All available devices "
            f"[{', '.join(available)}]. {debug}",
        )
    if not any(asked.matches(d) for d in available.values()):
        return _invalid(n, head + _no_such_device(n, asked, available))
    if asked.type is None:
        return _invalid(n, unsatisfied + debug)
    return _invalid(
        n,
        f"{unsatisfied} because no supported kernel for {asked.type} devices is available.{debug}"
        f"\nOp: {n.op}\nNode attrs: {_show_attrs(n)}\n"
        f"Registered kernels:\n{_registered_kernels(n.op)}",
    )


def _no_such_device(n: Node, asked: DeviceName, available: Mapping[str, DeviceName]) -> str:
    # The two blanks are TF's: its clients put the user's line between them.
    text = (
        f"{mention(n)}  was explicitly assigned to {n.device} but available devices are "
        f"[ {', '.join(sorted(available))} ]. Make sure the device specification refers to a valid "
        "device."
    )
    if asked.type == "GPU" and all(d.type != "GPU" for d in available.values()):
        text += " The requested device appears to be a GPU, but CUDA is not enabled."
        text += f" On this machine {why_none()}." if why_none() else ""
    return text


def _with_scopes(n: Node) -> str:
    """A node with the device and colocation scopes that were active when it was made."""
    if not n.asked:
        scopes = f"No device assignments were active during op '{n.name}' creation. "
    else:
        scopes = f"Device assignments active during op '{n.name}' creation:" + "".join(
            f"\n  {why.text}" + (f": <{why.at}>" if why.at else "") for why in n.asked
        )
    return f"{mention(n)} placed on device {scopes}"


def _debug(members: Sequence[Node], kernel_types: KernelTypes) -> str:
    """The ops of a colocation group with their device types, and what each member asked for."""
    types = {n.op: " ".join(t for t, _ in kernel_types(n)) for n in members}
    supported = "".join(f"\n{op}: {names} " for op, names in types.items())
    listed = "".join(f"\n  {n.name} ({n.op}) {n.device}" for n in members)
    return (
        "\nColocation Debug Info:\nColocation group had the following types and supported devices: "
        f"{supported}\n\nColocation members, user-requested devices, and framework assigned "
        f"devices, if any:{listed}\n"
    )


def _show_attrs(n: Node) -> str:
    shown = [f"{k}={_show(v)}" for k, v in n.attrs.items()]
    if n.colocate:
        shown.append("_class=[" + ", ".join(f'"loc:@{c}"' for c in n.colocate) + "]")
    return ", ".join(shown)


def _show(value: Any) -> str:
    if isinstance(value, DType):
        return _constant(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, tuple):
        return show_shape(value)
    if hasattr(value, "dtype"):
        return f"Tensor<type: {value.dtype} shape: {list(value.shape)}>"
    if isinstance(value, list):
        return f"[{', '.join(_show(v) for v in value)}]"
    return str(value)


def _registered_kernels(op: str) -> str:
    opdef = OPS.get(op)
    if opdef is None or not opdef.kernels:
        return "  <no registered kernels>\n"
    lines = []
    for k in opdef.kernels:
        types = f"; T in [{', '.join(_constant(t) for t in k.types)}]" if k.types else ""
        lines += [f"  device='{device}'{types}\n" for device in _device_types(k, op)]
    return "".join(lines)


def _device_types(k: Kernel, op: str) -> list[str]:
    own = [k.device] if k.device else ["CPU", "GPU"]
    return [*own, XLA_CPU] if "CPU" in own and op in COMPILED_OPS else own


def _type_name(dtype: DType) -> str:
    base = _C_NAMES.get(dtype.base.name, dtype.base.name)
    return f"{base}_ref" if dtype.is_ref else base


def _constant(dtype: DType) -> str:
    return "DT_" + _type_name(dtype).upper()


def _invalid(n: Node, text: str) -> OpError:
    return _about(n, InvalidArgumentError(None, None, f"{text}\n\t [[{mention(n)}]]"))


def _about(n: Node, error: OpError) -> OpError:
    error.node = n.name
    return error
