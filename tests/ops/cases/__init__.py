"""Cases of ops for test_table.py: CASES = {"MatMul": [case(f32(2, 3), f32(3, 4))], ...} in each
file.

An input is an array drawn by its place in the case (f32, f64, i32, i64, bools, c64), given values
(`ints(0, 2)`, `reals(0.5)`, any NumPy array, a Python number), or a list of inputs for an `N * T`
argument. Inputs made by f32 and reals stand for all types that the op allows. Only NumPy is needed
here, so that TensorFlow can run the cases too. A file may also have EXEMPT = {"Op": "why it has no
cases"}.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any, NamedTuple

import numpy as np

CHECKS = ("gradient", "types", "full shape", "unknown shape", "recorded")


class Drawn(NamedTuple):
    """Values to be drawn between two limits. `free`: they may be of another type than `dtype`."""

    shape: tuple
    dtype: str
    low: float
    high: float
    free: bool = False


def f32(*shape: int, low: float = -2.0, high: float = 2.0) -> Drawn:
    """Reals of any type that the op takes."""
    return Drawn(shape, "float32", low, high, True)


def only_f32(*shape: int, low: float = -2.0, high: float = 2.0) -> Drawn:
    """float32 and nothing else."""
    return Drawn(shape, "float32", low, high)


def f64(*shape: int, low: float = -2.0, high: float = 2.0) -> Drawn:
    return Drawn(shape, "float64", low, high)


def c64(*shape: int, low: float = -2.0, high: float = 2.0) -> Drawn:
    return Drawn(shape, "complex64", low, high)


def i32(*shape: int, low: int = -5, high: int = 6) -> Drawn:
    """Integers from low up to high, which is left out."""
    return Drawn(shape, "int32", low, high)


def i64(*shape: int, low: int = -5, high: int = 6) -> Drawn:
    return Drawn(shape, "int64", low, high)


def bools(*shape: int) -> Drawn:
    return Drawn(shape, "bool", 0, 2)


class Given(NamedTuple):
    """Values that may be of another type."""

    values: np.ndarray


def reals(*values: float) -> Given:
    """A vector of these reals (one number: a scalar), of any type that the op takes."""
    return Given(np.array(values if len(values) != 1 else values[0], "float32"))


def ints(*values: Any, dtype: str = "int32") -> np.ndarray:
    """A vector of these integers."""
    return np.array(values, dtype)


def strings(*values: bytes) -> np.ndarray:
    """A vector of these strings."""
    return np.array(values, object)


class Case(NamedTuple):
    inputs: tuple  # arrays, and lists of arrays
    free: tuple  # which flat inputs may be of another type
    attrs: dict
    skipped: dict = {}  # check -> why it does not hold here
    flat_in: tuple = ()  # inputs for which TensorFlow has no gradient, though there is a slope

    def without(self, *checks: str, why: str) -> Case:
        """The case with some of CHECKS left out, and the reason."""
        unknown = set(checks) - set(CHECKS)
        if unknown:
            raise ValueError(f"no such checks: {unknown}")
        return self._replace(skipped={**self.skipped, **dict.fromkeys(checks, why)})

    def no_gradient_for(self, *inputs: int) -> Case:
        """The case of an op whose gradient in TensorFlow leaves these inputs out."""
        return self._replace(flat_in=inputs)


def case(*inputs: Any, **attrs: Any) -> Case:
    """One call of an op: its inputs in order, and its attributes by name."""
    free: list = []
    places = iter(range(100))

    def make(value: Any) -> Any:
        if isinstance(value, list):
            return [make(v) for v in value]
        free.append(getattr(value, "free", isinstance(value, Given)))
        if isinstance(value, Drawn):
            return draw(value, next(places))
        return value.values if isinstance(value, Given) else as_array(value)

    return Case(tuple(make(v) for v in inputs), tuple(free), attrs)


def draw(spec: Drawn, place: int) -> np.ndarray:
    """The values of a drawn input: the same for the same place and spec, in every NumPy."""
    random = np.random.RandomState(1 + place)
    if spec.dtype == "complex64":
        parts = random.uniform(spec.low, spec.high, (2, *spec.shape))
        return (parts[0] + 1j * parts[1]).astype(spec.dtype)
    if spec.dtype.startswith("float"):
        return random.uniform(spec.low, spec.high, spec.shape).astype(spec.dtype)
    return random.randint(int(spec.low), int(spec.high), spec.shape).astype(spec.dtype)


def as_array(value: Any) -> np.ndarray:
    """A given value; Python numbers are int32, float32 or bool, bytes are strings."""
    if isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value)
    if isinstance(value, bytes):
        out = np.empty((), object)
        out[()] = value
        return out
    kinds = {bool: "bool", int: "int32", float: "float32"}
    return np.array(value, kinds[type(value)])


def files() -> dict:
    """The case files by name."""
    names = sorted(m.name for m in pkgutil.iter_modules(__path__))
    return {name: importlib.import_module(f"{__name__}.{name}") for name in names}


def every(attribute: str) -> dict:
    """CASES or EXEMPT of all files in one. Raises ValueError for an op in two files."""
    out: dict = {}
    for name, module in files().items():
        for op, value in getattr(module, attribute, {}).items():
            if op in out:
                raise ValueError(f"{op} is in two case files, the second being {name}.py")
            out[op] = value
    return out
