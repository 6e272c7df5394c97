"""Whatever can be looked at, a script, a saved graph or a running cluster, as a captured graph."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

from minitf.graph import Graph
from minitf.viz.capture import Captured, capture, default_targets, ends, step_of
from minitf.viz.graph_file import SUFFIXES, looked_at, read_graph_file
from minitf.viz.live import read_cluster
from minitf.viz.unreadable import Unreadable
from minitf_runtime.passes.data import Partitioned

__all__ = ["Unreadable", "did_you_mean", "read", "step_asked"]

MOST_ENDS = 5  # ops that an error offers to fetch
LIKE = 0.4  # of 1: how like a name must be to be offered in place of another


def read(
    source: str | os.PathLike[str] | Graph | Captured,
    args: Sequence[str] = (),
    *,
    cluster: Mapping[str, Sequence[str]] | None = None,
    task: tuple[str, int] | None = None,
    gpus: int = 0,
    strategy: str | None = None,
    limit: float | None = None,
) -> Captured:
    """The graph of a script, of a file (.pb .pbtxt .meta), or of the cluster at grpc://HOST:PORT;
    or one that is at hand.

    A script runs as `task` of `cluster` until its first step, for `limit` seconds at most; a saved
    graph is looked at as that task. Of a running cluster the session that ran last is shown, or
    that of `task`. Raises Unreadable with one line that says what is wrong.
    """
    if isinstance(source, Captured):
        return source
    if isinstance(source, Graph):
        return looked_at(source, cluster, task, gpus)
    name = os.fspath(source)
    if name.startswith("grpc://"):
        if cluster or gpus or strategy:
            raise Unreadable(f"{name}: a running cluster is what it is; leave its size to it")
        return read_cluster(name.removeprefix("grpc://"), task)
    if not os.path.isfile(name):
        kind = "graph" if name.endswith(SUFFIXES) else "script"
        raise Unreadable(f"no such {kind}: {name}")
    if name.endswith(SUFFIXES):
        return read_graph_file(name, cluster, task, gpus)
    return capture(name, args, cluster, task or ("worker", 0), gpus, strategy, limit)


def step_asked(captured: Captured, fetches: Sequence[str] = ()) -> Partitioned:
    """The partitioned graph of a step: that of `fetches`, or the one that ran last, or the train
    op's. Raises Unreadable if there is none, OpError if it cannot be placed."""
    if not captured.graph.get_operations():
        raise Unreadable(f"{captured.origin} has no ops: no graph was built")
    if captured.ran is not None and not fetches:
        return captured.ran
    names = fetches or default_targets(captured.graph)
    if not names:
        found = ends(captured.graph)
        shown = ", ".join(found[:MOST_ENDS]) + (", ..." if found[MOST_ENDS:] else "")
        raise Unreadable(
            f"{captured.origin} has no train op; name what to run with --fetch NAME"
            + (f" (nothing uses {shown})" if found else "")
        )
    try:
        return step_of(captured, names)
    except (KeyError, ValueError) as e:
        raise Unreadable(f"--fetch: {e.args[0]}{offer(names, captured)}") from None


def offer(names: Iterable[str], captured: Captured) -> str:
    """'; did you mean ...' for the first name that no op has."""
    known = [op.name for op in captured.graph.get_operations()]
    missing = [n for n in names if n.split(":")[0] not in known]
    return did_you_mean(missing[0], known) if missing else ""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """'; did you mean ...' with the names most like one that is not there, if any is: those that
    end in it first, then by letters."""
    known = list(known)
    low = name.lower()
    inside = sorted((k for k in known if low in k.lower()), key=len)
    ending = [k for k in inside if k.lower().endswith(low)]
    found = dict.fromkeys([*ending, *inside]) or get_close_matches(name, known, 3, LIKE)
    names = ", ".join(list(found)[:3])
    return f"; did you mean {names}?" if names else ""
