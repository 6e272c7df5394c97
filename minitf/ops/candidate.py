"""Candidate samplers of tf.nn (and tf.random): classes that stand for all in a sampled loss."""

from __future__ import annotations

from typing import Any

from minitf.ops.apply import apply_op
from minitf.ops.random import get_seed


def _seeds(seed: int | None) -> dict[str, int | None]:
    seed, seed2 = get_seed(seed)
    return {"seed": seed, "seed2": seed2}


def uniform_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Classes drawn evenly: sampled classes, and how often true and sampled ones are expected."""
    return apply_op(
        "UniformCandidateSampler", true_classes, num_true=num_true, num_sampled=num_sampled,
        unique=unique, range_max=range_max, **_seeds(seed), name=name,
    )  # fmt: skip


def log_uniform_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Classes drawn by Zipf's law: for classes numbered from the most frequent on."""
    return apply_op(
        "LogUniformCandidateSampler", true_classes, num_true=num_true, num_sampled=num_sampled,
        unique=unique, range_max=range_max, **_seeds(seed), name=name,
    )  # fmt: skip


def all_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """All classes: for testing a sampled loss against the full one."""
    return apply_op(
        "AllCandidateSampler", true_classes, num_true=num_true, num_sampled=num_sampled,
        unique=unique, **_seeds(seed), name=name,
    )  # fmt: skip


def compute_accidental_hits(
    true_classes: Any,
    sampled_candidates: Any,
    num_true: int,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Sampled classes that are true ones of a row: rows, places, and weights that rule them out."""
    return apply_op(
        "ComputeAccidentalHits", true_classes, sampled_candidates, num_true=num_true,
        **_seeds(seed), name=name,
    )  # fmt: skip
