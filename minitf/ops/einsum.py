"""einsum: sums of products written with index letters, made of transposes, reshapes and matmuls."""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from typing import Any

from minitf import tf_logging
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops import array
from minitf.ops.elementwise import multiply
from minitf.ops.matmul import matmul, trace
from minitf.ops.reduction import reduce_sum
from minitf_runtime.types import Shape

__all__ = ["einsum"]

_EQUATION = re.compile(r"^([a-zA-Z,.]+)(->[a-zA-Z.]*)?$")


def einsum(equation: str, *inputs: Any, name: str | None = None) -> Tensor:
    """The product of the inputs, summed over the letters that the output does not have.

    Raises ValueError for an equation that does not fit the inputs.
    """
    with name_scope(name, "einsum", [equation, inputs]):
        labels, output = _parse(equation, [x._shape for x in inputs])
        for own in labels:
            twice = {letter for letter in own if own.count(letter) > 1}
            if twice and len(labels) == 1 and own == own[::-1] and "->" not in equation:
                return trace(inputs[0])
            if twice:
                raise ValueError(f"Subscript not supported: an axis appears more than once: {own}")
        for letter in sorted(set("".join(labels)) - set(output)):
            if sum(letter in own for own in labels) > 2:
                tf_logging.warn(
                    "Falling back to exponential-space implementation of einsum() because index "
                    f'"{letter}" is summed over more than two inputs.'
                )
                return _all_at_once(inputs, labels, output)
        return _pair_by_pair(equation, inputs, labels, output)


def _pair_by_pair(
    equation: str, inputs: Sequence[Tensor], labels: list[str], output: str
) -> Tensor:
    total, own = inputs[0], labels[0]
    for x, letters in zip(inputs[1:], labels[1:]):
        total, own = _product(total, own, x, letters, set(own) & set(letters) - set(output))
    summed = [i for i, letter in enumerate(own) if letter not in output]
    if summed:
        total = reduce_sum(total, axis=summed)
        own = "".join(letter for letter in own if letter in output)
    if sorted(own) != sorted(output):
        raise ValueError(f"Invalid equation: {equation}")
    return _transposed(total, [own.index(letter) for letter in output])


# ---- reading the equation


def _parse(equation: str, shapes: Sequence[Shape]) -> tuple[list[str], str]:
    """The letters of each input and of the output, an ellipsis being made of unused letters."""
    equation = equation.replace(" ", "")
    match = _EQUATION.match(equation)
    if not match:
        raise ValueError(f"Indices have incorrect format: {equation}")
    labels = match[1].split(",")
    output = match[2][2:] if match[2] else None
    if len(shapes) != len(labels):
        raise ValueError(
            f'Got {len(shapes)} arguments for equation "{equation}", expecting {len(labels)}'
        )
    unused = "".join(c for c in string.ascii_letters if c not in "".join(labels))
    labels = [_spelled_out(own, shape, unused) for own, shape in zip(labels, shapes)]
    hidden = max(("".join(c for c in own if c in unused) for own in labels), key=len)
    if output is None:
        return labels, hidden + _implied(labels, hidden)
    output = output.replace("...", hidden)
    if "." in output:
        raise ValueError('period "." found outside of ellipsis')
    return labels, output


def _implied(labels: list[str], hidden: str) -> str:
    """The output's letters where none are given: those that occur once."""
    every = "".join(labels)
    return "".join(sorted(c for c in set(every) - set(hidden) if every.count(c) == 1))


def _spelled_out(own: str, shape: Shape, unused: str) -> str:
    """An input's letters with its ellipsis replaced by letters."""
    if "..." not in own:
        if "." in own:
            raise ValueError('period "." found outside of ellipsis')
        return own
    parts = own.split("...")
    if len(parts) != 2:
        raise ValueError("Unable to resolve ellipsis. Excess number found.")
    if shape is None:
        raise ValueError("Unable to statically infer ellipsis axes.")
    count = len(shape) - len("".join(parts))
    if count < 0:
        raise ValueError("Ellipses lengths do not match.")
    if len(unused) < count:
        raise ValueError("Unable to resolve ellipsis, too many distinct labels.")
    return own.replace("...", unused[len(unused) - count :])


# ---- two factors as a matmul


def _product(
    x: Tensor, x_letters: str, y: Tensor, y_letters: str, summed: set[str]
) -> tuple[Tensor, str]:
    """The product of two factors, summed over `summed`, and its letters.

    Both are laid out as [kept in both, own, summed] and [kept in both, summed, own].
    """
    _check_rank("t0", x, x_letters)
    _check_rank("t1", y, y_letters)
    both = sorted((set(x_letters) & set(y_letters)) - summed)
    x_own = sorted(set(x_letters) - set(both) - summed)
    y_own = sorted(set(y_letters) - set(both) - summed)
    inner = sorted(summed)
    x = _laid_out(x, x_letters, [*both, *x_own, *inner])
    y = _laid_out(y, y_letters, [*both, *inner, *y_own])
    letters = "".join([*both, *x_own, *y_own])
    if not summed:
        for _ in y_own:
            x = array.expand_dims(x, -1)
        for _ in x_own:
            y = array.expand_dims(y, len(both))
        return multiply(x, y), letters
    x, x_sizes = _as_matrices(x, len(both), len(both) + len(x_own))
    y, y_sizes = _as_matrices(y, len(both), len(both) + len(inner))
    free = x_sizes[: len(both) + len(x_own)] + y_sizes[len(both) + len(inner) :]
    return _reshaped(matmul(x, y), free), letters


def _as_matrices(x: Tensor, kept: int, split: int) -> tuple[Tensor, list[Any]]:
    """x as a batch of matrices, its axes from `kept` on made into two at `split`; and its sizes."""
    sizes = _sizes(x)
    rows, columns = _product_of(sizes[kept:split]), _product_of(sizes[split:])
    return _reshaped(x, [*sizes[:kept], rows, columns]), sizes


def _check_rank(name: str, x: Tensor, letters: str) -> None:
    ndim = len(x.shape)
    if ndim != len(letters):
        raise ValueError(
            f"Tensor {name} of rank {ndim} does not match einsum reduction of length {len(letters)}"
        )


def _laid_out(x: Tensor, letters: str, order: list[str]) -> Tensor:
    return _transposed(x, [letters.find(c) for c in order])


def _transposed(x: Tensor, order: list[int]) -> Tensor:
    return x if order == sorted(order) else array.transpose(x, perm=order)


def _sizes(x: Tensor) -> list[Any]:
    """The sizes of x: numbers where they are known, tensors where not."""
    sizes: list[Any] = x.shape.as_list()
    if None in sizes:
        asked = array.shape(x)
        sizes = [asked[i] if n is None else n for i, n in enumerate(sizes)]
    return sizes


def _product_of(sizes: list[Any]) -> Any:
    out: Any = 1
    for n in sizes:
        out = out * n
    return out


def _reshaped(x: Tensor, sizes: list[Any]) -> Tensor:
    known = x.shape.as_list()
    if len(known) == len(sizes) and None not in known and known == sizes:
        return x
    return array.reshape(x, tuple(sizes))


# ---- any number of factors at once


def _all_at_once(inputs: Sequence[Tensor], labels: list[str], output: str) -> Tensor:
    """All inputs broadcast to all letters, multiplied and summed: as large as it sounds."""
    order = sorted(set("".join(labels)) - set(output)) + list(output)
    tensors = []
    for i, (x, own) in enumerate(zip(inputs, labels)):
        if x._shape is None or len(x._shape) != len(own):
            raise ValueError(
                f"Input {i} with axes {own} has incorrect number of dimensions "
                f"(expected {len(own)}, got {x.shape.ndims})"
            )
        here = [c for c in order if c in own]
        tensors.append((_laid_out(x, own, here), here))
    _check_sizes(tensors, order)
    wide = []
    for x, here in tensors:
        sizes = dict(zip(here, x.shape.as_list()))
        shape = [sizes[c] or -1 if c in sizes else 1 for c in order]
        wide.append(array.reshape(x, shape))
    total: Any = 1
    for x in wide:
        total = total * x
    return reduce_sum(total, list(range(len(order) - len(output))))


def _check_sizes(tensors: list[tuple[Tensor, list[str]]], order: list[str]) -> None:
    for letter in order:
        sizes = {x.shape.as_list()[here.index(letter)] for x, here in tensors if letter in here}
        if len(sizes - {None, 1}) > 1:
            raise ValueError(f"Dimension mismatch on axis: {letter}")
