"""Which programs of a part share a thread."""

from __future__ import annotations

import pytest

from minitf_runtime.plan.compile import Program
from minitf_runtime.plan.executor import _chains


def program(name):
    """a0 -> the program of device a and strand 0."""
    return Program(lambda *_: None, name, name, name[0], int(name[1]), {})


@pytest.mark.parametrize(
    ("programs", "threads"),
    [
        ("a0", "a0"),
        ("a1", "a1"),
        ("a0 a1", "a0a1"),
        ("a0 b0", "a0 b0"),
        ("a1 a2", "a1 a2"),
        ("a0 b0 a1 a2 b2", "a0a1 b0b2 a2"),
        ("b0 a1 b1", "b0b1 a1"),
    ],
)
def test_strand_0_is_followed_by_one_that_may_wait(programs, threads):
    chains = _chains([program(name) for name in programs.split()])
    assert " ".join("".join(p.source for p in chain) for chain in chains) == threads
