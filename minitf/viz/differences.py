"""What differs between two steps: ops that moved and why, transfers that are new, gone or other."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from minitf.viz.capture import Captured
from minitf.viz.reasons import chain, in_words
from minitf.viz.rows import EdgeRow, edge_rows, sum_rows
from minitf.viz.source import read, step_asked
from minitf_runtime.passes.data import Partitioned


@dataclass(frozen=True)
class Moved:
    """An op that is on another device. why: the rules of the second that the first has not."""

    name: str
    op: str
    at: str
    was: str
    now: str
    why: tuple[str, ...]


@dataclass(frozen=True)
class Transfer:
    """A transfer that is `new`, `gone`, `grown`, `shrunk` or `other` (of unknown size in one)."""

    change: str
    tensor: str
    kind: str
    src: str
    dst: str
    was: int | None  # bytes; None where it is not there, or its size is not known
    now: int | None


@dataclass(frozen=True)
class Differences:
    """From a first step to a second. messages, bytes and unknown (sizes) are pairs, of each."""

    moved: tuple[Moved, ...]
    gone: tuple[str, ...]  # ops of the whole graph that the second has not
    new: tuple[str, ...]
    transfers: tuple[Transfer, ...]
    messages: tuple[int, int]
    bytes: tuple[int, int]
    unknown: tuple[int, int]

    @property
    def differs(self) -> bool:
        return bool(self.moved or self.gone or self.new or self.transfers)


def diff(a: str | os.PathLike[str] | Captured | Any, b: Any, **options: Any) -> Differences:
    """What differs between the train steps of two scripts, saved graphs, clusters or tf.Graphs.

    options: those of minitf.viz.read, for both; for two sets of options pass what `read` gives.
    Raises Unreadable, or the placer's OpError.
    """
    return compare(step_asked(read(a, **options)), step_asked(read(b, **options)))


def compare(first: Partitioned, second: Partitioned) -> Differences:
    a, b = first.placement, second.placement
    rows = edge_rows(first), edge_rows(second)
    moved = [name for name in a if name in b and a[name].device != b[name].device]
    sums = [sum_rows(r) for r in rows]
    return Differences(
        tuple(sorted((_moved(first, second, name) for name in moved), key=_follows)),
        tuple(name for name in a if name not in b),
        tuple(name for name in b if name not in a),
        tuple(_transfers(*rows)),
        (len(rows[0]), len(rows[1])),
        (sum(s.bytes for s in sums[0]), sum(s.bytes for s in sums[1])),
        (sum(s.unknown for s in sums[0]), sum(s.unknown for s in sums[1])),
    )


def _moved(first: Partitioned, second: Partitioned, name: str) -> Moved:
    before = {(link.op, in_words(link)) for link in chain(first.placement, name)}
    links = list(chain(second.placement, name))
    new = [link for link in links if (link.op, in_words(link)) not in before] or links[-1:]
    new = [link for link in new if link.op == name] or new
    node = second.whole[name]
    was, now = first.placement[name].device, second.placement[name].device
    why = tuple(("" if k.op == name else f"{k.op}: ") + in_words(k) for k in new)
    return Moved(name, node.op, node.source, was, now, why)


def _follows(moved: Moved) -> bool:
    """Whether it moved only because others did; those that were asked to come first."""
    return not moved.why[0].startswith("ask")


def _transfers(first: list[EdgeRow], second: list[EdgeRow]) -> Iterator[Transfer]:
    """Those of one direction with the same tensor are compared in their order."""
    pairs: dict[Any, tuple[list[EdgeRow], list[EdgeRow]]] = defaultdict(lambda: ([], []))
    for which, rows in enumerate((first, second)):
        for row in rows:
            pairs[row.tensor, row.kind, row.src, row.dst][which].append(row)
    for key, (was, now) in pairs.items():
        both = min(len(was), len(now))
        for a, b in zip(was, now):
            if a.bytes != b.bytes:
                yield Transfer(_change(a.bytes, b.bytes), *key, a.bytes, b.bytes)
        for row in was[both:]:
            yield Transfer("gone", *key, row.bytes, None)
        for row in now[both:]:
            yield Transfer("new", *key, None, row.bytes)


def _change(was: int | None, now: int | None) -> str:
    if was is None or now is None:
        return "other"
    return "grown" if now > was else "shrunk"
