"""Traces a function of arrays into the ufuncs that it calls, as a function that runs on a block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

Key = Sequence[tuple[str, "np.dtype[Any]"]]  # of each input: full, row or one; and its type


@dataclass(frozen=True)
class Tape:
    """A traced function. `outputs` and `buffers`: the types of what a block needs.

    prologue(*inputs): what is computed from rows and scalars, once;
    block(fixed, inputs, outputs, buffers, at): the rest, for the slice `at`.
    """

    plain: Callable[..., tuple[Any, ...]]
    outputs: tuple[Any, ...]
    buffers: tuple[Any, ...]
    prologue: Callable[..., list[Any]]
    block: Callable[..., None]
    calls: int  # that a block makes
    text: str


def trace(fn: Callable[..., tuple[Any, ...]], key: Key) -> Tape | None:
    """The tape of a function, or None if it does other things than ufuncs on arrays."""
    tracer = _Tracer()
    inputs = [tracer.input(kind, dtype) for kind, dtype in key]
    try:
        with np.errstate(all="ignore"):
            results = fn(*inputs)
    except (TypeError, AttributeError, ValueError, NotImplementedError):
        return None
    if not all(isinstance(r, _Traced) and r.full for r in results):
        return None
    return _Writer(tracer, results).tape(fn)


class _Traced(NDArrayOperatorsMixin):
    """A value of the traced function: an input or the result of a recorded call."""

    __slots__ = ("tracer", "number", "full", "sample")

    def __init__(self, tracer: _Tracer, number: int, full: bool, sample: Any) -> None:
        self.tracer = tracer
        self.number = number
        self.full = full  # an array to be cut into blocks, not a row or scalar
        self.sample = sample

    @property
    def dtype(self) -> Any:
        return self.sample.dtype

    @property
    def shape(self) -> Any:
        return self.sample.shape

    def __pow__(self, other: Any) -> Any:
        if isinstance(other, int) and other == 2:
            return np.square(self)
        return NDArrayOperatorsMixin.__pow__(self, other)

    def conj(self) -> Any:
        return self if self.dtype.kind != "c" else np.conjugate(self)

    def astype(self, dtype: Any) -> Any:
        return self.tracer.call("cast", np.dtype(dtype), (self,))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        in_place = kwargs.pop("out", None)  # x += y: from here on, the name x means the result
        if in_place not in (None, inputs[:1]):
            return NotImplemented
        if method != "__call__" or kwargs or ufunc.nout != 1:
            return NotImplemented
        return self.tracer.call("ufunc", ufunc, inputs)

    def __array_function__(self, fn: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if fn is not np.where or len(args) != 3 or kwargs:
            return NotImplemented
        return self.tracer.call("where", np.where, args)


@dataclass
class _Call:
    kind: str
    fn: Any
    operands: tuple[Any, ...]  # numbers of values, or ("literal", value)
    result: _Traced


class _Tracer:
    """The record of one trace. A call that was made before is not made again."""

    def __init__(self) -> None:
        self.values: list[_Traced] = []
        self.inputs: list[_Traced] = []
        self.calls: list[_Call] = []
        self._made: dict[Any, _Traced] = {}

    def input(self, kind: str, dtype: Any) -> _Traced:
        sample = np.ones((), dtype)[()] if kind == "one" else np.ones(2, dtype)
        made = self._value(kind == "full", sample)
        self.inputs.append(made)
        return made

    def _value(self, full: bool, sample: Any) -> _Traced:
        made = _Traced(self, len(self.values), full, sample)
        self.values.append(made)
        return made

    def call(self, kind: str, fn: Any, operands: Sequence[Any]) -> _Traced:
        key = (kind, fn, tuple(_identity(x) for x in operands))
        if key not in self._made:
            samples = [x.sample if isinstance(x, _Traced) else x for x in operands]
            sample = samples[0].astype(fn) if kind == "cast" else fn(*samples)
            full = any(isinstance(x, _Traced) and x.full for x in operands)
            self._made[key] = self._value(full, sample)
            self.calls.append(_Call(kind, fn, tuple(operands), self._made[key]))
        return self._made[key]


def _identity(operand: Any) -> Any:
    if isinstance(operand, _Traced):
        return operand.number
    return type(operand), getattr(operand, "dtype", None), repr(operand)


class _Writer:
    """Writes the two functions of a tape, and gives results buffers that are free."""

    def __init__(self, tracer: _Tracer, results: Sequence[_Traced]) -> None:
        self.tracer = tracer
        self.results = results
        self.names: dict[int, str] = {}
        self.namespace: dict[str, Any] = {"copyto": np.copyto}
        self.buffers: list[Any] = []
        self.free: dict[Any, list[str]] = {}

    def tape(self, plain: Callable[..., tuple[Any, ...]]) -> Tape:
        rows = [c for c in self.tracer.calls if not c.result.full]
        full = [c for c in self.tracer.calls if c.result.full]
        head = [f"x{i}" for i in range(len(self.tracer.inputs))]
        for i, value in enumerate(self.tracer.inputs):
            self.names[value.number] = f"x{i}"
        before = [self._plain_line(c, f"r{i}") for i, c in enumerate(rows)]
        fixed = ", ".join(self.names[c.result.number] for c in rows)
        cut = [f"x{i}" for i, v in enumerate(self.tracer.inputs) if v.full]
        opening = [f"{', '.join(head)}, = xs"] if head else []
        opening += [f"{fixed}, = fixed"] if rows else []
        opening += [f"{x} = {x}[at]" for x in cut]
        opening += [f"o{i} = outs[{i}][at]" for i in range(len(self.results))]
        body = self._body(full)
        taken = [f"b{i}" for i in range(len(self.buffers))]
        opening += [f"{', '.join(taken)}, = bufs"] if taken else []
        text = _function(f"prologue({', '.join(head)})", [*before, f"return [{fixed}]"])
        text += _function("block(fixed, xs, outs, bufs, at)", [*opening, *body])
        exec(compile(text, "<minitf fusion>", "exec"), self.namespace)  # noqa: S102  our own source
        return Tape(
            plain,
            tuple(r.dtype for r in self.results),
            tuple(self.buffers),
            self.namespace["prologue"],
            self.namespace["block"],
            len(full),
            text,
        )

    def _plain_line(self, c: _Call, name: str) -> str:
        self.names[c.result.number] = name
        args = ", ".join(self._operand(x) for x in c.operands)
        if c.kind == "cast":
            return f"{name} = {args}.astype({self._bind(c.fn)})"
        return f"{name} = {self._bind(c.fn)}({args})"

    def _body(self, calls: Sequence[_Call]) -> list[str]:
        last = {x.number: i for i, c in enumerate(calls) for x in c.operands if _is_full(x)}
        outputs = {r.number: f"o{i}" for i, r in reversed(list(enumerate(self.results)))}
        lines = []
        for i, c in enumerate(calls):
            operands = [self._operand(x) for x in c.operands]
            dying = {x.number for x in c.operands if _is_full(x) and last[x.number] == i}
            if c.kind != "where":
                self._release(dying)
            out = outputs.get(c.result.number) or self._buffer(c.result.dtype)
            if c.kind == "where":
                self._release(dying)
            self.names[c.result.number] = out
            lines += self._lines(c, operands, out)
            if c.result.number not in last and c.result.number not in outputs:
                self._release({c.result.number})
        for i, r in enumerate(self.results):
            if self.names[r.number] != f"o{i}":
                lines.append(f"copyto(o{i}, {self.names[r.number]})")
        return lines

    def _lines(self, c: _Call, operands: list[str], out: str) -> list[str]:
        if c.kind == "ufunc":
            return [f"{self._bind(c.fn)}({', '.join(operands)}, out={out})"]
        if c.kind == "cast":
            return [f"copyto({out}, {operands[0]}, 'unsafe')"]
        condition, x, y = operands
        return [f"copyto({out}, {y}, 'unsafe')", f"copyto({out}, {x}, 'unsafe', {condition})"]

    def _operand(self, x: Any) -> str:
        return self.names[x.number] if isinstance(x, _Traced) else self._bind(x)

    def _bind(self, value: Any) -> str:
        name = getattr(value, "__name__", "") if isinstance(value, np.ufunc) else ""
        name = name or f"c{len(self.namespace)}"
        self.namespace[name] = value
        return name

    def _buffer(self, dtype: Any) -> str:
        free = self.free.setdefault(dtype, [])
        if free:
            return free.pop()
        self.buffers.append(dtype)
        return f"b{len(self.buffers) - 1}"

    def _release(self, numbers: set[int]) -> None:
        for number in numbers:
            name = self.names[number]
            if name.startswith("b"):
                self.free.setdefault(self.tracer.values[number].dtype, []).append(name)


def _is_full(x: Any) -> bool:
    return isinstance(x, _Traced) and x.full


def _function(head: str, lines: Sequence[str]) -> str:
    return "".join([f"def {head}:\n", *(f"    {line}\n" for line in lines), "\n"])
