"""Losses over a sample of the classes: noise-contrastive estimation and sampled softmax."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops import array, math
from minitf.ops.apply import apply_op
from minitf.ops.candidate import compute_accidental_hits, log_uniform_candidate_sampler
from minitf.ops.cross_entropy import (
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits_v2,
)
from minitf.ops.embedding import embedding_lookup
from minitf.variables.partitioned import PartitionedVariable
from minitf_runtime.types import int32, int64


def nce_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = False,
    partition_strategy: str = "mod",
    name: str = "nce_loss",
) -> Tensor:
    """Noise-contrastive loss of each row: true classes against sampled ones."""
    sampling = _Sampling(
        num_sampled, num_classes, num_true, sampled_values, remove_accidental_hits,
        partition_strategy, None,
    )  # fmt: skip
    logits, targets = _sampled_logits(weights, biases, labels, inputs, sampling, name)
    losses = sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name="sampled_losses")
    return _sum_rows(losses)


def sampled_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = True,
    partition_strategy: str = "mod",
    name: str = "sampled_softmax_loss",
    seed: int | None = None,
) -> Tensor:
    """Softmax loss of each row over its true classes and the sampled ones."""
    sampling = _Sampling(
        num_sampled, num_classes, num_true, sampled_values, remove_accidental_hits,
        partition_strategy, seed,
    )  # fmt: skip
    logits, targets = _sampled_logits(weights, biases, labels, inputs, sampling, name)
    targets = array.stop_gradient(targets, name="labels_stop_gradient")
    return softmax_cross_entropy_with_logits_v2(targets, logits)


@dataclass(frozen=True)
class _Sampling:
    """How classes are sampled."""

    num_sampled: int
    num_classes: int
    num_true: int
    values: Any
    remove_accidental_hits: bool
    strategy: str
    seed: int | None

    def draw(self, labels: Tensor) -> list[Tensor]:
        """Sampled classes, and how often true and sampled ones are expected; no gradients."""
        values = self.values
        if values is None:
            values = log_uniform_candidate_sampler(
                labels, self.num_true, self.num_sampled, True, self.num_classes, self.seed
            )
        sampled, true_expected, sampled_expected = (array.stop_gradient(v) for v in values)
        return [math.cast(sampled, int64), true_expected, sampled_expected]


def _sampled_logits(
    weights: Any, biases: Any, labels: Any, inputs: Any, sampling: _Sampling, name: str
) -> tuple[Tensor, Tensor]:
    """Logits of true and sampled classes [n, true + sampled], and what they should be."""
    if isinstance(weights, PartitionedVariable):
        weights = list(weights)
    if not isinstance(weights, list):
        weights = [weights]
    with name_scope(name, "compute_sampled_logits", [*weights, biases, inputs, labels]):
        if labels.dtype is not int64:
            labels = math.cast(labels, int64)
        flat = array.reshape(labels, [-1])
        sampled, true_expected, sampled_expected = sampling.draw(labels)
        ids = array.concat([flat, sampled], 0)
        all_w = _rows(weights, ids, sampling.strategy, inputs)
        true_w = array.slice(all_w, [0, 0], array.stack([array.shape(flat)[0], -1]))
        sampled_w = array.slice(all_w, array.stack([array.shape(flat)[0], 0]), [-1, -1])
        sampled_logits = math.matmul(inputs, sampled_w, transpose_b=True)
        all_b = _rows(biases, ids, sampling.strategy, inputs)
        true_b = array.slice(all_b, [0], array.shape(flat))
        sampled_b = array.slice(all_b, array.shape(flat), [-1])
        true_logits = _true_logits(inputs, true_w, sampling.num_true)
        true_b = array.reshape(true_b, [-1, sampling.num_true])
        true_logits = true_logits + true_b
        sampled_logits = sampled_logits + sampled_b
        if sampling.remove_accidental_hits:
            sampled_logits = _without_hits(sampled_logits, labels, sampled, sampling)
        true_logits = true_logits - math.log(true_expected)
        sampled_logits = sampled_logits - math.log(sampled_expected)
        logits = array.concat([true_logits, sampled_logits], 1)
        shares = array.ones_like(true_logits) / sampling.num_true
        return logits, array.concat([shares, array.zeros_like(sampled_logits)], 1)


def _rows(table: Any, ids: Tensor, strategy: str, inputs: Any) -> Tensor:
    rows = embedding_lookup(table, ids, partition_strategy=strategy)
    return rows if rows.dtype is inputs.dtype else math.cast(rows, inputs.dtype)


def _true_logits(inputs: Any, true_w: Tensor, num_true: int) -> Tensor:
    dim = array.shape(true_w)[1:2]
    shape = array.concat([[-1, num_true], dim], 0)
    dots = math.multiply(array.expand_dims(inputs, 1), array.reshape(true_w, shape))
    matrix = array.reshape(dots, array.concat([[-1], dim], 0))
    return array.reshape(_sum_rows(matrix), [-1, num_true])


def _sum_rows(x: Tensor) -> Tensor:
    """Row sums, by a product with ones."""
    columns = array.shape(x)[1]
    ones = array.ones(array.stack([columns, 1]), x.dtype)
    return array.reshape(math.matmul(x, ones), [-1])


def _without_hits(logits: Tensor, labels: Tensor, sampled: Tensor, sampling: _Sampling) -> Tensor:
    """Logits of sampled classes that are true ones made very small."""
    rows, places, weights = compute_accidental_hits(labels, sampled, sampling.num_true)
    rows = array.reshape(rows, [-1, 1])
    places = array.reshape(math.cast(places, int32), [-1, 1])
    indices = array.concat([rows, places], 1, "sparse_indices")
    batch = array.shape(labels)[:1]
    shape = array.concat([batch, array.expand_dims(sampling.num_sampled, 0)], 0)
    if logits.dtype is not weights.dtype:
        weights = math.cast(weights, logits.dtype)
    return logits + apply_op(  # type: ignore[no-any-return]
        "SparseToDense", indices, shape, weights, 0.0, validate_indices=False
    )
