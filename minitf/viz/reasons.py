"""Why an op is where it is: the reasons that the placer recorded, from op to op, as one chain."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from minitf.viz.capture import Captured, default_targets
from minitf.viz.rows import short
from minitf.viz.source import did_you_mean, read, step_asked
from minitf.viz.unreadable import Unreadable
from minitf_runtime.devices.gpu_kernels import why_no_kernel
from minitf_runtime.devices.name import parse_full
from minitf_runtime.errors import OpError
from minitf_runtime.graph import Graph
from minitf_runtime.passes.data import Partitioned, Placed

ASKING = ("scope", "colocate", "request")  # what a user wrote
FOLLOWING = ("pinned", "metadata", "generator")  # the op that this one follows says the rest
DECIDING = (*FOLLOWING, "default", "conflict")


@dataclass(frozen=True)
class Link:
    """One rule of a chain: the op that it is about, the rule in words, and the user's line.

    node: the other op that the rule looked at; device: what was asked for. The rules are those of
    docs/placement.md, and: left (what request and kernels leave), moved (by the cut, to its data),
    stopped (another op ended the placing).
    """

    op: str
    rule: str
    text: str
    at: str = ""
    node: str = ""
    device: str = ""


@dataclass(frozen=True)
class RuledOut:
    """Devices that the op could not have or did not get. `by`: request, kernel, order or rule."""

    devices: tuple[str, ...]
    by: str
    text: str


@dataclass(frozen=True)
class Why:
    """Where an op is and why. `error` is that of the placer for a graph it could not place; the
    device is then '', unless this op had one by then."""

    name: str
    op: str
    at: str
    device: str
    links: tuple[Link, ...]
    ruled_out: tuple[RuledOut, ...]
    error: str = ""


def why(source: str | os.PathLike[str] | Captured | Any, op: str, **options: Any) -> Why:
    """Why an op of a script, saved graph, running cluster or tf.Graph is where it is.

    options: those of minitf.viz.read. Raises Unreadable for a source without a graph, or an op
    that it does not have.
    """
    return why_of(read(source, **options), op)


def why_of(captured: Captured, name: str, fetches: Sequence[str] = ()) -> Why:
    """The reading of one op, by its name or that of one of its tensors. Raises Unreadable."""
    name = name.removeprefix("^").split(":")[0]
    known = [op.name for op in captured.graph.get_operations()]
    if not known:
        raise Unreadable(f"{captured.origin} has no ops: no graph was built")
    if name not in known:
        raise Unreadable(f"the graph has no op '{name}'{did_you_mean(name, known)}")
    targets = fetches or ([] if captured.ran else default_targets(captured.graph) or [name])
    try:
        return read_why(step_asked(captured, targets), name)
    except OpError as e:
        if not e.placement:
            raise
        nodes = Graph(captured.graph.nodes())
        return _read(nodes, e.placement, name, e)


def read_why(cut: Partitioned, name: str) -> Why:
    """The reading of one op of a placed graph; where the cut moved it, that comes last."""
    found = _read(cut.whole, cut.placement, name)
    here = {n.name: device for device, nodes in cut.parts.items() for n in nodes}.get(name)
    if here is None or here == found.device:
        return found
    text = f"the cut moves it from {short(found.device)} to where its data is or goes"
    links = (*found.links, Link(name, "moved", text))
    return Why(name, found.op, found.at, here, links, found.ruled_out)


def _read(
    nodes: Graph, placement: Mapping[str, Placed], name: str, error: OpError | None = None
) -> Why:
    if name not in placement:
        raise Unreadable(f"'{name}' was taken apart before placing; its parts are '{name}/...'")
    placed, links = placement[name], list(chain(placement, name))
    node = nodes.get(name)
    if not placed.device and (not links or links[-1].rule != "conflict"):
        stop = error.node if error and error.node in placement else ""
        text = f"the placing ended at '{stop}'" if stop else "the placing ended before it"
        links = [*links, Link(name, "stopped", text), *(chain(placement, stop) if stop else ())]
    return Why(
        name,
        node.op if node else "",
        node.source if node else "",
        placed.device,
        tuple(links),
        tuple(ruled_out(nodes, placement, name)),
        error.message if error else "",
    )


def chain(placement: Mapping[str, Placed], name: str) -> Iterator[Link]:
    """The rules that led to the device of an op, and of those that it follows; each once."""
    told: dict[Link, None] = {}
    end: Link | None = None
    while name and not (end and name == end.op):
        placed = placement[name]
        rules = [r for r in placed.why if r.rule != "assigned"]
        final = rules[-1] if rules else None
        follows = final.node if final and final.rule in (*FOLLOWING, "conflict") else ""
        links = [link for link in _links(placement, name) if link.op != follows]
        if links and links[-1].rule == "conflict":
            end = end or links[-1]
            del links[-1]
        told.update(dict.fromkeys(links))
        if final is None or final.rule not in DECIDING:
            told.update(dict.fromkeys(_left(name, placed)))
        name = follows
    yield from told
    if end is not None:
        yield end


def _links(placement: Mapping[str, Placed], name: str) -> Iterator[Link]:
    """The reasons of one op; what another of its group was asked by is told of that one."""
    owner = name
    for r in placement[name].why:
        if r.rule in ASKING:
            asked = r.device or (placement[owner].asked if owner in placement else "")
            yield Link(owner, r.rule, r.text, r.at, r.node, asked)
        else:
            owner = r.node if r.rule == "group" else name
            yield Link(name, r.rule, r.text, r.at, r.node, r.device)


def in_words(link: Link) -> str:
    """A rule as a sentence; of a device function also what it answered."""
    if link.rule != "scope":
        return link.text
    said = "" if link.device in link.text else f", for '{link.device}'"
    return f"asked by `{link.text}`{said}"


def _left(name: str, placed: Placed) -> Iterator[Link]:
    """What the request and the kernels leave, where no other rule decided."""
    fit = placed.fit
    if fit is None or not fit.candidates or not placed.device:
        return
    many = len(fit.candidates)
    text = f"the first of the {many} devices that are left: by type, then by name"
    if not fit.asked:
        text = f"default device of the session: the first of {many} by type, then by name"
    if many == 1:
        text = "the only device that is left" if fit.unasked or fit.no_kernel else "the only device"
    yield Link(name, "left", text, device=fit.asked)


def ruled_out(nodes: Graph, placement: Mapping[str, Placed], name: str) -> Iterator[RuledOut]:
    """The devices that the op, or the first of its group to be placed, did not get."""
    while (last := placement[name].why[-1:]) and last[0].rule == "pinned":
        name = last[0].node
    placed, fit = placement[name], placement[name].fit
    if fit is None:
        return
    if fit.unasked:
        askers = " and ".join(f"'{name}'" for name in _askers(name, placed))
        yield RuledOut(fit.unasked, "request", f"outside '{fit.asked}', asked by {askers}")
    for kind, member in placed.lacks:
        here = tuple(d for d in fit.no_kernel if parse_full(d).type == kind)
        if here:
            op = nodes[member].op if member in nodes else ""
            text = f"'{member}' ({op}) has no kernel for {kind}"
            if kind == "GPU" and op:
                text += f": {why_no_kernel(op, nodes[member].attrs)}"
            yield RuledOut(here, "kernel", text)
    others = tuple(d for d in fit.candidates if d != placed.device)
    if others and placed.device:
        rule = last[0].rule if last and last[0].rule in FOLLOWING else "order"
        yield RuledOut(others, rule, _BESIDE.get(rule, "comes later: by type, then by name"))


_BESIDE = {
    "metadata": "allowed, but its input is not there",
    "generator": "allowed, but its consumers are not there",
}


def _askers(name: str, placed: Placed) -> list[str]:
    """Whose requests count: those that others brought into the group, else its own."""
    others = [r.node for r in placed.why if r.rule == "group"]
    own = placed.asked and not any(r.rule == "override" for r in placed.why)
    return [name, *others] if own or not others else others
