"""Arrays of the fake GPU, with cupy's rules: no NumPy arrays beside them, no conversion behind
one's back, only where their device is current.

Stricter than cupy: what makes the host wait for the device is refused unless the code says so, by
`xp.synchronised()`; duplicates in an assignment by index are written in the wrong order.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from minitf_runtime.devices.fake_memory import Memory
from minitf_runtime.devices.fake_stream import Stamp

_NO_KEYWORDS = frozenset("where initial subok order".split())  # NumPy's, which cupy's lack
_METHODS = """
    all any argmax argmin argsort astype clip conj conjugate copy cumprod cumsum diagonal dot
    flatten max mean min prod ravel repeat reshape round squeeze std sum swapaxes take trace
    transpose var view
    """.split()


class FakeArray:
    """An array in the memory of a fake GPU. `base`: whose memory it shares."""

    __slots__ = ("gpu", "values", "memory", "base")
    __array_priority__ = 100
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self, gpu: Any, values: np.ndarray[Any, Any], memory: Memory, base: FakeArray | None
    ) -> None:
        self.gpu = gpu
        self.values = values
        self.memory = memory
        self.base = base

    shape = property(lambda self: self.values.shape)
    dtype = property(lambda self: self.values.dtype)
    ndim = property(lambda self: self.values.ndim)
    size = property(lambda self: self.values.size)
    nbytes = property(lambda self: self.values.nbytes)
    itemsize = property(lambda self: self.values.itemsize)
    strides = property(lambda self: self.values.strides)
    flags = property(lambda self: self.values.flags)
    device = property(lambda self: self.gpu)
    T = property(lambda self: launch(self.gpu, "T", np.transpose, self))
    real = property(
        lambda self: launch(self.gpu, "real", np.real, self),
        lambda self, x: launch(self.gpu, "real", _set_part, self, "real", x),
    )
    imag = property(
        lambda self: launch(self.gpu, "imag", np.imag, self),
        lambda self, x: launch(self.gpu, "imag", _set_part, self, "imag", x),
    )

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[FakeArray]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, at: Any) -> Any:
        if _has_mask(at):
            self.gpu.must_be_allowed("indexing by a mask")
        return launch(self.gpu, "indexing", _get, self, no_lists(at))

    def __setitem__(self, at: Any, value: Any) -> None:
        launch(self.gpu, "assignment by index", _set, self, no_lists(at), value)

    def fill(self, value: Any) -> None:
        launch(self.gpu, "fill", np.ndarray.fill, self, value)

    def sort(self, axis: int = -1) -> None:
        launch(self.gpu, "sort", np.ndarray.sort, self, axis)

    def get(self) -> Any:
        return self.gpu.xp.asnumpy(self)

    def item(self, *at: int) -> Any:
        return self._read("reading one element").item(*at)

    def _read(self, what: str) -> np.ndarray[Any, Any]:
        """The values, which the host waits for."""
        self.gpu.must_be_allowed(what)
        stream = self.gpu.current_stream(what)
        self.memory.reading(stream.begin(what), stream.clock)
        return self.values

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. "
            "Please use `.get()` to construct a NumPy array explicitly."
        )

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        """NumPy's ufuncs on such arrays are the device's, as in cupy, but not beside NumPy's."""
        if method != "__call__":
            return NotImplemented
        return launch(self.gpu, ufunc.__name__, ufunc, *args, **kwargs)

    def __contains__(self, value: Any) -> bool:
        return bool((self == value).any())

    def __repr__(self) -> str:
        return f"<array of {self.gpu}: {self.dtype} {self.shape}>"


def _method(name: str) -> Callable[..., Any]:
    def method(self: FakeArray, *args: Any, **kwargs: Any) -> Any:
        return launch(self.gpu, name, getattr(np.ndarray, name), self, *args, **kwargs)

    return method


def _operator(name: str, ufunc: Any, kind: str) -> Callable[..., Any]:
    def binary(self: FakeArray, other: Any) -> Any:
        return launch(self.gpu, name, ufunc, self, other)

    def reflected(self: FakeArray, other: Any) -> Any:
        return launch(self.gpu, name, ufunc, other, self)

    def in_place(self: FakeArray, other: Any) -> Any:
        launch(self.gpu, name, ufunc, self, other, out=self)
        return self

    return {"": binary, "r": reflected, "i": in_place}[kind]


def _unary(name: str, ufunc: Any) -> Callable[..., Any]:
    return lambda self: launch(self.gpu, name, ufunc, self)


def _to_python(name: str, convert: Callable[[Any], Any]) -> Callable[..., Any]:
    def conversion(self: FakeArray) -> Any:
        return convert(self._read(f"{name}() of an array"))

    return conversion


_BINARY = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide", "pow": "power",
    "floordiv": "floor_divide", "mod": "remainder", "matmul": "matmul", "and": "bitwise_and",
    "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "left_shift", "rshift": "right_shift",
    "divmod": "divmod",
}  # fmt: skip
for _name in _METHODS:
    setattr(FakeArray, _name, _method(_name))
for _name, _ufunc in _BINARY.items():
    for _kind in ("", "r") if _name in ("divmod", "matmul") else ("", "r", "i"):
        _made = _operator(_ufunc, getattr(np, _ufunc), _kind)
        setattr(FakeArray, f"__{_kind}{_name}__", _made)
for _name, _ufunc in {
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater",
    "ge": "greater_equal",
}.items():  # fmt: skip
    setattr(FakeArray, f"__{_name}__", _operator(_ufunc, getattr(np, _ufunc), ""))
for _name, _ufunc in {"neg": "negative", "abs": "absolute", "invert": "invert"}.items():
    setattr(FakeArray, f"__{_name}__", _unary(_ufunc, getattr(np, _ufunc)))
for _convert in (bool, int, float, complex, operator.index):
    setattr(FakeArray, f"__{_convert.__name__}__", _to_python(_convert.__name__, _convert))
FakeArray.tolist = _to_python("tolist", np.ndarray.tolist)  # type: ignore[attr-defined]
FakeArray.nonzero = lambda self: self.gpu.xp.nonzero(self)  # type: ignore[attr-defined]


def launch(gpu: Any, name: str, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Calls a function of NumPy on the device's values; its results are the device's.

    What gives nothing back writes to its first argument, as NumPy's functions do. Raises TypeError
    for arrays in host memory, RuntimeError if the device is not current, OutOfOrder.
    """
    stream = gpu.current_stream(name)
    refused = _NO_KEYWORDS & kwargs.keys()
    if refused:
        raise TypeError(f"{name}: cupy has no keyword {', '.join(sorted(refused))}")
    inputs: list[FakeArray] = []
    plain = [_inner(x, gpu, name, inputs) for x in args]
    named = {k: _inner(x, gpu, name, inputs) for k, x in kwargs.items()}
    stamp = stream.begin(name)
    for x in inputs:
        x.memory.reading(stamp, stream.clock)
    with np.errstate(all="ignore"):
        result = fn(*plain, **named)
    for x in inputs[:1] if result is None else _arrays(kwargs.get("out")):
        x.memory.writing(stamp, stream.clock)
    return _outer(gpu, result, inputs, stamp)


def _arrays(out: Any) -> list[FakeArray]:
    return [x for x in (out if isinstance(out, tuple) else (out,)) if isinstance(x, FakeArray)]


def _inner(x: Any, gpu: Any, name: str, inputs: list[FakeArray]) -> Any:
    """An argument as NumPy's functions take it; device arrays are added to `inputs`."""
    if isinstance(x, FakeArray):
        if x.gpu is not gpu:
            raise ValueError(f"{name}: an array of {x.gpu}, used on {gpu}")
        inputs.append(x)
        return x.values
    if isinstance(x, np.ndarray):
        raise TypeError(f"{name}: Unsupported type {type(x)}: an array in host memory")
    if type(x) in (list, tuple):
        return type(x)(_inner(i, gpu, name, inputs) for i in x)
    return x


def _outer(gpu: Any, result: Any, inputs: list[FakeArray], stamp: Stamp) -> Any:
    """A result of NumPy's as the device's: an input itself, a view of one, or a new array."""
    if isinstance(result, (tuple, list)):
        return (list if isinstance(result, list) else tuple)(
            [_outer(gpu, r, inputs, stamp) for r in result]
        )
    if isinstance(result, np.generic):
        result = np.asarray(result)
    if not isinstance(result, np.ndarray):
        return result
    for x in inputs:
        if result is x.values:
            return x
    root = root_of(result)
    for x in inputs:
        if root_of(x.values) is root:
            return FakeArray(gpu, result, x.memory, x if x.base is None else x.base)
    memory = gpu.allocate(root.nbytes)
    memory.written = stamp
    return FakeArray(gpu, result, memory, None)


def root_of(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array that owns the memory."""
    owner: Any = values
    while getattr(owner, "base", None) is not None:
        owner = owner.base
        values = owner if isinstance(owner, np.ndarray) else values
    return values


def _set_part(values: Any, part: str, x: Any) -> None:
    setattr(values, part, x)


# ---- indexing


def _parts(at: Any) -> tuple[Any, ...]:
    return at if isinstance(at, tuple) else (at,)


def _has_mask(at: Any) -> bool:
    return any(isinstance(i, FakeArray) and i.dtype.kind == "b" for i in _parts(at))


def no_lists(at: Any) -> Any:
    if any(isinstance(i, list) for i in _parts(at)):
        raise TypeError("indexing: a list of indices is copied to the device")
    return at


def wrapped(values: Any, at: Any) -> Any:
    """Indices out of bounds wrap around, where NumPy raises."""
    parts = _parts(at)
    used = sum(_axes_of(i) for i in parts)
    axis, out = 0, []
    for i in parts:
        if i is Ellipsis:
            axis += values.ndim - used
        elif isinstance(i, np.ndarray) and i.dtype.kind != "b" and axis < values.ndim:
            i = i % values.shape[axis] if values.shape[axis] else i
        axis += _axes_of(i)
        out.append(i)
    return tuple(out)


def _axes_of(i: Any) -> int:
    if i is None or i is Ellipsis:
        return 0
    return i.ndim if isinstance(i, np.ndarray) and i.dtype.kind == "b" else 1


def _get(values: Any, at: Any) -> Any:
    return values[wrapped(values, at)]


def _set(values: Any, at: Any, value: Any) -> None:
    """Assigns, the last of several values for one place first."""
    at = wrapped(values, at)
    if np.ndim(value) and all(isinstance(i, np.ndarray) and i.dtype.kind != "b" for i in at):
        places = np.broadcast_arrays(*at)
        rest = values.shape[len(at) :]
        many = np.broadcast_to(value, (*places[0].shape, *rest)).reshape(-1, *rest)
        values[tuple(p.reshape(-1)[::-1] for p in places)] = many[::-1]
    else:
        values[at] = value
