"""Kernels that call NumPy on `x`, each in another way. They are read, never run."""

from __future__ import annotations

import functools

import numpy
import numpy as np
from numpy import square

TABLE = {"square": np.square}


def called(xp, x):
    return np.exp(x)


def by_keyword(xp, x):
    return np.sum(a=x)


def of_a_submodule(xp, x):
    return np.linalg.inv(x)


def method_of_a_ufunc(xp, x):
    return np.add.reduce(x)


def by_the_whole_name(xp, x):
    return numpy.exp(x)


def imported(xp, x):
    return square(x)


def by_another_name(xp, x):
    f = np.exp
    return f(x)


def from_a_table(xp, x):
    return TABLE["square"](x)


def by_its_name(xp, x):
    return getattr(np, "exp")(x)  # noqa: B009


def partly_applied(xp, x):
    return functools.partial(np.add, 1)(x)


def mapped(xp, x):
    return list(map(np.exp, x))


def in_a_comprehension(xp, x):
    return [np.exp(row) for row in x]


def in_a_lambda(xp, x):
    return (lambda v: np.exp(v))(x)


def in_a_named_lambda(xp, x):
    f = lambda v: np.exp(v)  # noqa: E731
    return f(x)


def in_a_function_within(xp, x):
    def f(v):
        return np.exp(v)

    return f(x)


def in_a_list(xp, x):
    return np.stack([x, x])


def unpacked(xp, x):
    both = (x, 1)
    return np.add(*both)


def stored(xp, x):
    rows = []
    rows.append(x)
    return np.concatenate(rows)


def assigned_within(xp, x):
    if (y := x * 2).size:
        return np.exp(y)
    return y


def added_to(xp, x):
    y = 0
    y += x
    return np.exp(y)


def in_the_next_turn(xp, x):
    y = 0
    while x.size:
        np.exp(y)
        y = x
    return y


def in_a_block(xp, x):
    try:
        y = x.T
    except ValueError:
        y = 0
    return np.exp(y)


def only_on_a_gpu(xp, x):
    if xp is not np:
        return np.exp(x)
    return x


def other_function(xp, x):
    return _helper(x)


def other_function_by_another_name(xp, x):
    f = _helper
    return f(v=x)


def _helper(v):
    return np.exp(v)
