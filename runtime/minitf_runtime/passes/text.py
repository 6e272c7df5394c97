"""Graph and Partitioned as text that people can read and compare, and that reads back.

    h = MatMul(x, w/read:0, ^init) {T=float32} -> float32[3,?] @ /job:ps/task:0; source="mlp.py:7"

`&v` is an input taken by reference, `^v` a control input.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple
from typing import Any

from minitf_runtime.graph import CONTROL, Graph, Node, Reason
from minitf_runtime.passes.data import Devices, Edge, Fit, Partitioned, Placed
from minitf_runtime.passes.literals import Reader, show, show_tensor
from minitf_runtime.types import DType

_NAME = r"[^\s,;(){}&^:=]+"
_DEVICE = r"[^\s;]*"


def write_graph(graph: Graph) -> str:
    """One line for each node. Raises ValueError for an attribute without text (a function)."""
    return "".join(f"{_write_node(n)}\n" for n in graph)


def read_graph(text: str) -> Graph:
    """The graph that `write_graph` wrote. Raises ValueError with the line that cannot be read."""
    return Graph(_read_nodes(line for line in text.splitlines() if line.strip()))


def _write_node(n: Node) -> str:
    inputs = [
        ("&" if taken.is_ref else "") + (source if index == 0 else f"{source}:{index}")
        for (source, index), taken in zip(n.inputs, n.input_types)
    ]
    inputs += [f"^{c}" for c in n.control]
    line = f"{n.name} = {n.op}({', '.join(inputs)})"
    if n.attrs:
        line += " {" + ", ".join(f"{k}={show(v)}" for k, v in n.attrs.items()) + "}"
    if n.output_types:
        outputs = zip(n.output_types, n.output_shapes)
        line += " -> " + ", ".join(show_tensor(t, s) for t, s in outputs)
    if n.device:
        line += f" @ {n.device}"
    if n.colocate:
        line += f"; colocate={show(n.colocate)}"
    if n.role != "forward":
        line += f"; role={show(n.role)}"
    if n.source:
        line += f"; source={show(n.source)}"
    if n.asked:
        line += f"; asked={_show_reasons(n.asked)}"
    return line


def _read_nodes(lines: Iterable[str]) -> list[Node]:
    drafts = [_read_node(line) for line in lines]
    types = {n.name: n.output_types for n, _ in drafts}
    return [n.with_(input_types=tuple(_taken(n, by_ref, types))) for n, by_ref in drafts]


def _taken(n: Node, by_ref: Sequence[bool], types: dict[str, Any]) -> Iterator[DType]:
    for (source, index), ref in zip(n.inputs, by_ref):
        if source not in types or index >= len(types[source]):
            raise ValueError(f"'{n.name}' takes '{source}:{index}', which is not there")
        base = types[source][index].base
        yield base.ref if ref else base


def _read_node(line: str) -> tuple[Node, list[bool]]:
    """A node without its input types, and which inputs are taken by reference."""
    r = Reader(line)
    name = r.rest(_NAME)
    r.expect("=")
    op = r.rest(_NAME)
    r.expect("(")
    inputs, by_ref, control = _read_inputs(r)
    attrs = _read_attrs(r) if r.skip("{") else {}
    outputs = []
    if r.skip("->"):
        outputs.append(r.tensor())
        while r.skip(","):
            outputs.append(r.tensor())
    device = r.rest(_DEVICE) if r.skip("@") else ""
    rest: dict[str, Any] = {}
    while r.skip(";"):
        key = r.take("word") or ""
        r.expect("=")
        rest[key] = r.value()
    if "asked" in rest:
        rest["asked"] = _reasons(rest["asked"])
    if r.rest(r".*"):
        raise r.fail("the end of the line")
    types, shapes = tuple(t for t, _ in outputs), tuple(s for _, s in outputs)
    node = Node(
        name,
        op,
        inputs,
        control,
        device,
        attrs,
        output_types=types,
        output_shapes=shapes,
        **rest,
    )
    return node, by_ref


def _read_inputs(
    r: Reader,
) -> tuple[tuple[tuple[str, int], ...], list[bool], tuple[str, ...]]:
    inputs: list[tuple[str, int]] = []
    by_ref: list[bool] = []
    control: list[str] = []
    while not r.skip(")"):
        if r.skip("^"):
            control.append(r.rest(_NAME))
        else:
            by_ref.append(r.skip("&"))
            source = r.rest(_NAME)
            inputs.append((source, int(r.take("number") or 0) if r.skip(":") else 0))
        r.skip(",")
    return tuple(inputs), by_ref, tuple(control)


def _read_attrs(r: Reader) -> dict[str, Any]:
    attrs = {}
    while not r.skip("}"):
        key = r.take("word") or ""
        r.expect("=")
        attrs[key] = r.value()
        r.skip(",")
    return attrs


def _show_reasons(reasons: Sequence[Reason]) -> str:
    about = [(w.node, w.device) if w.node or w.device else () for w in reasons]
    return show(tuple((w.rule, w.text, w.at, *rest) for w, rest in zip(reasons, about)))


def _reasons(values: Iterable[tuple[str, ...]]) -> tuple[Reason, ...]:
    return tuple(Reason(*v) for v in values)


# ---- a partitioned graph: sections with a head line, each line of a section indented


def write_partitioned(cut: Partitioned) -> str:
    """A section for each field; see the module's head for nodes."""
    lines = ["devices local" if cut.devices.local else "devices"]
    lines += [f"  {d} {cut.devices.incarnations.get(d, 0)}" for d in cut.devices.names]
    for head, names in (("feeds", cut.feeds), ("fetches", cut.fetches)):
        lines += [head, *(f"  {show(pair)}" for pair in names)]
    lines += ["targets", *(f"  {show(t)}" for t in cut.targets)]
    fits = {placed.fit: i for i, placed in enumerate(cut.placement.values()) if placed.fit}
    lines += ["fits", *(f"  {show((i, *astuple(fit)))}" for fit, i in fits.items())]
    lines += ["placement"]
    for name, placed in cut.placement.items():
        rest = placed.asked, fits[placed.fit] if placed.fit else None, placed.lacks
        lines.append(f"  {show((name, placed.device, *rest))} {_show_reasons(placed.why)}")
    lines += ["whole", *_indent(cut.whole), "step", *_indent(cut.step)]
    for device, nodes in cut.parts.items():
        lines += [f"part {device}", *_indent(nodes)]
    lines += ["edges", *(f"  {_write_edge(e)}" for e in cut.edges)]
    lines += ["strands", *(f"  {show(pair)}" for pair in cut.strands.items())]
    return "\n".join(lines) + "\n"


def _indent(nodes: Iterable[Node]) -> Iterator[str]:
    return (f"  {_write_node(n)}" for n in nodes)


def _write_edge(e: Edge) -> str:
    what = f"^{e.src}" if e.slot == CONTROL else f"{e.src}:{e.slot}"
    tail = (e.tensor_name, e.send, e.recv, e.consumers, e.relay)
    return (
        f"{what} {e.src_device} -> {e.dst_device} {show_tensor(e.dtype, e.shape)} {e.kind} "
        f"{show(tail)} {_show_reasons(e.why)}"
    )


def _read_edge(line: str) -> Edge:
    r = Reader(line)
    what, src_device = r.rest(r"\S+"), r.rest(r"\S+")
    r.expect("->")
    dst_device = r.rest(r"\S+")
    dtype, shape = r.tensor()
    kind = r.take("word") or ""
    tensor_name, send, recv, consumers, relay = r.value()
    source, slot = (what[1:], CONTROL) if what[0] == "^" else what.rsplit(":", 1)
    return Edge(
        kind,
        source,
        int(slot),
        src_device,
        dst_device,
        dtype,
        shape,
        tensor_name,
        send,
        recv,
        consumers,
        relay,
        _reasons(r.value()),
    )


def read_partitioned(text: str) -> Partitioned:
    """The value that `write_partitioned` wrote. Raises ValueError for text that is not such."""
    sections: dict[str, list[str]] = {}
    for line in filter(None, text.splitlines()):
        if line.startswith("  "):
            list(sections.values())[-1].append(line[2:])
        else:
            sections[line] = []
    local = "devices local" in sections
    devices = [line.rsplit(" ", 1) for line in sections["devices local" if local else "devices"]]
    incarnations = {name: int(i) for name, i in devices if int(i)}
    fits = {i: Fit(*rest) for i, *rest in (Reader(line).value() for line in sections["fits"])}
    placement = {}
    for line in sections["placement"]:
        r = Reader(line)
        name, device, asked, fit, lacks = r.value()
        placement[name] = Placed(device, _reasons(r.value()), asked, fits.get(fit), lacks)
    parts = {
        head.partition(" ")[2]: tuple(_read_nodes(lines))
        for head, lines in sections.items()
        if head.startswith("part ")
    }
    return Partitioned(
        Graph(_read_nodes(sections["whole"])),
        placement,
        Graph(_read_nodes(sections["step"])),
        parts,
        tuple(_read_edge(line) for line in sections["edges"]),
        tuple(Reader(line).value() for line in sections["feeds"]),
        tuple(Reader(line).value() for line in sections["fetches"]),
        tuple(Reader(line).value() for line in sections["targets"]),
        dict(Reader(line).value() for line in sections["strands"]),
        Devices(tuple(name for name, _ in devices), local, incarnations),
    )
