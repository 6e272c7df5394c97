"""The table of ops: signature, attributes, shape function and kernels of each. The ops themselves
live in the domain files beside this one; `minitf_runtime.ops` imports them, and `load` the rest.

    @op("MatMul", "a: T, b: T -> product: T", T=Type(NUMBERS), transpose_a=False, transpose_b=False)
    def matmul_shape(c):                     # c: ShapeContext -> list of output shapes
        ...

    @kernel("MatMul")                        # one kernel for numpy and cupy
    def matmul(xp, a, b, *, transpose_a, transpose_b):
        ...

A kernel takes the array module, one positional argument per input of the signature (a list for `N
* T` and
list(type) inputs, a Variable for `Ref(T)`), and by keyword the attributes that it names. The
keywords `node`
(a KernelNode: name, op, attrs, device, state, resources) and `step` (the running step) are given
on demand.
It returns the output, or a tuple of all outputs when there are several (or a list output), or None.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any

from minitf_runtime.devices.gpu_kernels import deciding_attrs, host_arguments
from minitf_runtime.devices.xla_cpu import COMPILED_OPS, XLA_CPU
from minitf_runtime.errors import UnimplementedError
from minitf_runtime.types import (
    DType,
    Shape,
    as_dtype,
    broadcast_shapes,
    merge_shapes,
    resource,
    string,
    variant,
)

REQUIRED: Any = inspect.Parameter.empty


@dataclass(frozen=True)
class Attr:
    """A declared attribute. `kind`: type, list(type), int, float, bool, string, shape, tensor,
    list(int), list(shape), list(string), ... or any."""

    kind: str
    default: Any = REQUIRED
    allowed: tuple[Any, ...] = ()
    minimum: int = 0


def Type(allowed: Sequence[DType] = (), default: Any = REQUIRED) -> Attr:  # noqa: N802
    """A type attribute, limited to `allowed` if given."""
    return Attr("type", default, tuple(allowed))


def Types(  # noqa: N802
    default: Any = REQUIRED, minimum: int = 0, allowed: Sequence[DType] = ()
) -> Attr:
    """A list of types, one for each element of the inputs or outputs that name it."""
    return Attr("list(type)", default, tuple(allowed), minimum)


def Count(minimum: int = 1) -> Attr:  # noqa: N802
    """The length of an `N * T` input."""
    return Attr("int", REQUIRED, (), minimum)


@dataclass(frozen=True)
class Arg:
    """One input or output of a signature; exactly one of dtype, type_attr, list_attr is set."""

    name: str
    dtype: DType | None = None
    type_attr: str = ""
    number_attr: str = ""
    list_attr: str = ""
    is_ref: bool = False

    @cached_property
    def is_list(self) -> bool:
        return bool(self.number_attr or self.list_attr)


# The expression for attributes and shapes of inputs that need no check, else "".
Inline = Callable[[Mapping[str, Any], Sequence[Shape]], str]


@dataclass(frozen=True)
class Kernel:
    """A function for one op on one device type (or any, when `device` is None)."""

    fn: Callable[..., Any]
    device: str | None = None
    priority: int = 0
    types: tuple[DType, ...] = ()  # the T it is for; () = any
    host_inputs: frozenset[str] = frozenset()  # arguments that stay in host memory on a GPU
    host_outputs: frozenset[str] = frozenset()
    keywords: tuple[str, ...] = ()  # attributes (and `node`, `step`) passed by keyword
    inline: str | Inline = ""  # the same as a Python expression of {0}, {1} ...: saves the call
    elementwise: bool = False  # each element of the output needs those of the inputs at its place
    on_host: bool = False  # on a GPU, all that it takes and makes is in host memory


@dataclass
class OpDef:
    """All that is known of an op."""

    name: str
    inputs: tuple[Arg, ...]
    outputs: tuple[Arg, ...]
    attrs: dict[str, Attr]
    shape_fn: Callable[[ShapeContext], list[Shape]] | None = None
    stateful: bool = False
    blocking: bool = False  # may wait for another step: a dequeue, a take_grad
    kernels: list[Kernel] = field(default_factory=list)
    doc: str = ""
    known_types: dict[Any, Any] = field(default_factory=dict)  # of `types`
    device_types: dict[Any, Any] = field(default_factory=dict)  # `kernel_key` -> those with kernels

    def types(self, attrs: Mapping[str, Any]) -> tuple[tuple[DType, ...], tuple[DType, ...]]:
        """The flat types of the inputs and of the outputs once the attributes are known."""
        key = tuple([attrs[name] for name in self.deciding])
        try:
            found = self.known_types.get(key)
        except TypeError:  # a list of types
            return arg_types(self.inputs, attrs), arg_types(self.outputs, attrs)
        if found is None:
            found = arg_types(self.inputs, attrs), arg_types(self.outputs, attrs)
            self.known_types[key] = found
        return found

    @cached_property
    def takes_ref(self) -> bool:
        return any(a.is_ref for a in self.inputs)

    @cached_property
    def only_computes(self) -> bool:
        """Whether nobody can tell that it ran but by its outputs, errors left aside."""
        takes_or_gives_ref = any(a.is_ref for a in (*self.inputs, *self.outputs))
        return not (self.stateful or self.blocking or takes_or_gives_ref)

    @cached_property
    def gives_list(self) -> bool:
        return any(a.is_list for a in self.outputs)

    @cached_property
    def deciding(self) -> tuple[str, ...]:
        """The attributes that types and numbers of inputs and outputs depend on."""
        args = (*self.inputs, *self.outputs)
        names = (name for a in args for name in (a.type_attr, a.number_attr, a.list_attr))
        return tuple(dict.fromkeys(name for name in names if name))


class ShapeContext:
    """What a shape function may ask: static shapes of the flat inputs, attributes, known values.

    `static`: the StaticValues (ops/static.py) of the graph, which know the inputs as `keys`.
    """

    __slots__ = ("opdef", "shapes", "attrs", "_static", "_keys")

    def __init__(
        self,
        opdef: OpDef,
        shapes: Sequence[Shape],
        attrs: Any,
        static: Any,
        keys: Sequence[Hashable],
    ) -> None:
        self.opdef = opdef
        self.shapes = shapes
        self.attrs = attrs
        self._static = static
        self._keys = keys

    def shape(self, i: int) -> Shape:
        return self.shapes[i]

    def __getitem__(self, attr: str) -> Any:
        return self.attrs[attr]

    def value(self, i: int) -> Any:
        """The constant value of flat input i as a NumPy array, or None."""
        return self._static.value(self._keys[i])

    def shape_value(self, i: int) -> Shape:
        """Flat input i read as a shape, as far as it is known (None: not even its length)."""
        return self._static.shape_value(self._keys[i])  # type: ignore[no-any-return]

    def slots(self, name: str) -> range:
        """The flat positions of the input called `name`."""
        start = 0
        for arg in self.opdef.inputs:
            size = arity(arg, self.attrs)
            if arg.name == name:
                return range(start, start + size)
            start += size
        raise KeyError(name)

    def rank(self, i: int, rank: int) -> Shape:
        """Shape i, checked to have this rank (all sizes unknown when the rank is)."""
        shape = self.shapes[i]
        if shape is None:
            return (None,) * rank
        if len(shape) != rank:
            raise ValueError(f"Shape must be rank {rank} but is rank {len(shape)}")
        return shape


OPS: dict[str, OpDef] = {}
_ARG = re.compile(
    r"\s*(?P<name>\w+)\s*:\s*(?:(?P<count>\w+)\s*\*\s*)?(?P<ref>Ref\()?(?P<type>\w+)\)?\s*$"
)


def op(
    name: str,
    signature: str,
    shape_fn: Callable[[ShapeContext], list[Shape]] | None = None,
    /,
    *,
    stateful: bool = False,
    blocking: bool = False,
    **attrs: Any,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declares an op. Used as a decorator of its shape function, or given it as third argument.

    An attribute is an Attr (see Type, Types, Count) or a default value that tells its kind.
    """
    if name in OPS:
        raise ValueError(f"op {name} is declared twice")
    declared = {k: v if isinstance(v, Attr) else _attr_of_default(v) for k, v in attrs.items()}
    left, _, right = signature.partition("->")
    opdef = OpDef(
        name,
        _parse_args(left, declared),
        _parse_args(right, declared),
        declared,
        shape_fn,
        stateful,
        blocking,
    )
    OPS[name] = opdef

    def decorate(fn: Callable[..., Any]) -> Callable[..., Any]:
        opdef.shape_fn = fn
        opdef.doc = fn.__doc__ or ""
        return fn

    return decorate


def kernel(
    *names: str,
    device: str | None = None,
    priority: int = 0,
    types: Sequence[DType] = (),
    host_inputs: str = "",
    host_outputs: str = "",
    inline: str | Inline = "",
    elementwise: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers the function below as kernel of the named ops."""

    def decorate(fn: Callable[..., Any]) -> Callable[..., Any]:
        keywords = tuple(
            p.name
            for p in inspect.signature(fn).parameters.values()
            if p.kind is inspect.Parameter.KEYWORD_ONLY and p.default is inspect.Parameter.empty
        )
        for name in names:
            made = Kernel(
                fn, device, priority, tuple(types),
                frozenset(host_inputs.split()), frozenset(host_outputs.split()), keywords, inline,
                elementwise,
            )  # fmt: skip
            OPS[name].kernels.append(made)
            OPS[name].device_types.clear()
        _find_kernel.cache_clear()
        return fn

    return decorate


def load(op_types: Iterable[str]) -> None:
    """Fills the registry up if one of these ops is not there: some come when they are needed."""
    if any(name not in OPS and not name.startswith("_") for name in op_types):
        importlib.import_module("minitf_runtime.ops.late")


def op_def(name: str) -> OpDef:
    """The declaration of an op. Raises UnimplementedError for one that is not known."""
    if name not in OPS:
        load([name])
    try:
        return OPS[name]
    except KeyError:
        raise UnimplementedError(None, None, f"Op type '{name}' is not known to minitf") from None


def find_kernel(node_op: str, attrs: Any, device: str) -> Kernel | None:
    """The kernel of highest priority for this op, its T and this device type."""
    if device == "GPU":
        return _gpu_kernel(node_op, *kernel_key(node_op, attrs))
    return _find_kernel(node_op, _kernel_type(attrs), device)


def kernel_key(node_op: str, attrs: Any) -> tuple[DType | None, tuple[tuple[str, Any], ...]]:
    """What of an op's attributes decides its kernels, on whatever device."""
    return _kernel_type(attrs), tuple([(a, attrs.get(a)) for a in deciding_attrs(node_op)])


def _kernel_type(attrs: Any) -> DType | None:
    dtype = attrs.get("T") or attrs.get("dtype")
    return dtype if isinstance(dtype, DType) else None


@cache
def _gpu_kernel(
    node_op: str, dtype: DType | None, types: tuple[tuple[str, Any], ...]
) -> Kernel | None:
    """As TF has it: some kernels of a GPU compute small things in host memory, as the CPU's do."""
    opdef = op_def(node_op)
    host = host_arguments(node_op, dict(types))
    if host is None:
        return None
    inputs = {a.name for a in opdef.inputs if _has_data(a)}
    outputs = {a.name for a in opdef.outputs if _has_data(a)}
    if host >= inputs | outputs:
        found = _find_kernel(node_op, dtype, "CPU")
        host_inputs, host_outputs = frozenset(inputs), frozenset(outputs)
        return found and replace(
            found,
            host_inputs=host_inputs,
            host_outputs=host_outputs,
            inline="",
            elementwise=False,
            on_host=True,
        )
    found = _find_kernel(node_op, dtype, "GPU")
    return found and replace(
        found,
        host_inputs=found.host_inputs | host & inputs,
        host_outputs=found.host_outputs | host & outputs,
    )


def _has_data(arg: Arg) -> bool:
    return arg.dtype is None or arg.dtype.base not in (string, resource, variant)


@cache
def _find_kernel(node_op: str, dtype: DType | None, device: str) -> Kernel | None:
    if device == XLA_CPU:
        return _find_kernel(node_op, dtype, "CPU") if node_op in COMPILED_OPS else None
    best: Kernel | None = None
    for k in op_def(node_op).kernels:
        if k.device not in (None, device) or (k.types and dtype not in k.types):
            continue
        exact = k.device is not None
        if best is None or (exact, k.priority) > (best.device is not None, best.priority):
            best = k
    return best


def arity(arg: Arg, attrs: Any) -> int:
    """How many tensors an argument stands for."""
    if arg.number_attr:
        return int(attrs[arg.number_attr])
    if arg.list_attr:
        return len(attrs[arg.list_attr])
    return 1


def arg_types(args: Sequence[Arg], attrs: Any) -> tuple[DType, ...]:
    """The flat types of inputs or outputs once the attributes are known."""
    out: list[DType] = []
    for arg in args:
        if arg.list_attr:
            types = [as_dtype(t) for t in attrs[arg.list_attr]]
        else:
            one = arg.dtype if arg.dtype is not None else as_dtype(attrs[arg.type_attr])
            types = [one] * arity(arg, attrs)
        out += [t.ref for t in types] if arg.is_ref else types
    return tuple(out)


def infer_shapes(
    opdef: OpDef,
    shapes: Sequence[Shape],
    attrs: Any,
    count: int,
    static: Any,
    keys: Sequence[Hashable],
) -> list[Shape]:
    """The static shapes of an op's outputs. Raises ValueError when the inputs do not fit.

    static, keys: see ShapeContext.
    """
    if opdef.shape_fn is None:
        return [None] * count
    return opdef.shape_fn(ShapeContext(opdef, shapes, attrs, static, keys))


# Shape functions that many ops share.


def unchanged(c: ShapeContext) -> list[Shape]:
    """One output, shaped as input 0."""
    return [c.shapes[0]]


def broadcast(c: ShapeContext) -> list[Shape]:
    return [broadcast_shapes(c.shapes[0], c.shapes[1])]


def scalar(c: ShapeContext) -> list[Shape]:
    return [()]


def unknown(c: ShapeContext) -> list[Shape]:
    return [None] * len(arg_types(c.opdef.outputs, c.attrs))


def no_outputs(c: ShapeContext) -> list[Shape]:
    return []


def merged(c: ShapeContext) -> list[Shape]:
    """One output; all inputs must have one shape."""
    shape: Shape = None
    for s in c.shapes:
        shape = merge_shapes(shape, s)
    return [shape]


def _attr_of_default(default: Any) -> Attr:
    if isinstance(default, DType):
        return Attr("type", default)
    kinds = {bool: "bool", int: "int", float: "float", str: "string", bytes: "string"}
    if type(default) in kinds:
        return Attr(kinds[type(default)], default)
    if isinstance(default, (list, tuple)):
        return Attr("list(any)", default)
    return Attr("any", default)


def _parse_args(text: str, attrs: dict[str, Attr]) -> tuple[Arg, ...]:
    args = []
    for part in filter(None, (p.strip() for p in text.split(","))):
        found = _ARG.match(part)
        if not found:
            raise ValueError(f"cannot read op argument {part!r}")
        kind = found["type"]
        count = found["count"] or ""
        is_ref = bool(found["ref"])
        if kind not in attrs:
            args.append(Arg(found["name"], as_dtype(kind), number_attr=count, is_ref=is_ref))
        elif attrs[kind].kind == "list(type)":
            args.append(Arg(found["name"], list_attr=kind, is_ref=is_ref))
        else:
            args.append(Arg(found["name"], type_attr=kind, number_attr=count, is_ref=is_ref))
    return tuple(args)
