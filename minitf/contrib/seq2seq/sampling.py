"""Draws of helpers, made of the ops of distributions: of bits, and of classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitf.convert import to_tensor
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops import array, math, random
from minitf_runtime.types import int32, int64


def bernoulli_sample(
    probs: Any, dtype: Any = int32, sample_shape: Any = (), seed: int | None = None
) -> Tensor:
    """Bits [sample_shape, shape of probs] that are 1 with the given probabilities."""
    probs = to_tensor(probs, name="probs")
    batch_shape = array.shape(probs)

    def draw(n: Tensor) -> Tensor:
        shape = array.concat([[n], batch_shape], 0)
        uniform = random.random_uniform(shape, seed=seed, dtype=probs.dtype)
        return math.cast(math.less(uniform, probs), dtype)

    return _drawn(draw, sample_shape)


def categorical_sample(
    logits: Any, dtype: Any = int32, sample_shape: Any = (), seed: int | None = None
) -> Tensor:
    """Classes [sample_shape, shape of logits without the last axis], by their logits."""
    logits = to_tensor(logits, name="logits")
    classes = array.shape(logits)[-1]
    batch_shape = array.shape(logits)[:-1]

    def draw(n: Tensor) -> Tensor:
        rows = logits if logits.shape.ndims == 2 else array.reshape(logits, [-1, classes])
        drawn_dtype = int64 if logits.dtype.size > 4 else int32
        draws = random.multinomial(rows, n, seed=seed, output_dtype=drawn_dtype)
        turned = array.transpose(draws)
        shape = array.concat([[n], batch_shape], 0)
        return math.cast(array.reshape(turned, shape), dtype)

    return _drawn(draw, sample_shape)


def _drawn(draw: Callable[[Tensor], Tensor], sample_shape: Any) -> Tensor:
    """Draws of a whole shape, made by a function of their number."""
    with name_scope(None, "call_sampler", [sample_shape]):
        shape = to_tensor(sample_shape, int32, name="sample_shape")
        more = math.cast(math.equal(array.rank(shape), 0), int32)
        as_vector = array.pad(array.shape(shape), paddings=[[more, 0]], constant_values=1)
        shape = array.reshape(shape, as_vector)
        samples = draw(math.reduce_prod(shape))
        event_shape = array.shape(samples)[1:]
        return array.reshape(samples, array.concat([shape, event_shape], 0))
