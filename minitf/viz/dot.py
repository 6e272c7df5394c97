"""The cut as a Graphviz graph: a box per device, a dashed arrow per control transfer."""

from __future__ import annotations

from minitf.viz.rows import CUT_OPS, edge_rows, op_rows, short
from minitf_runtime.passes.data import Partitioned

FILL = {
    "forward": "#cfe8ff",
    "gradient": "#f3d1f4",
    "apply": "#ffd0c8",
    "variable": "#cdeccd",
    "slot": "#e2f3d5",
    "init": "#eeeeee",
    "save": "#eeeeee",
}


def to_dot(cut: Partitioned) -> str:
    """Valid Graphviz text."""
    lines = ["digraph step {", "  rankdir=LR;", "  node [shape=box, style=filled, fontsize=10];"]
    rows = op_rows(cut)
    for i, device in enumerate(sorted({r.device for r in rows})):
        lines.append(f"  subgraph cluster_{i} {{")
        lines.append(f"    label={_quote(short(device))};")
        for r in rows:
            if r.device == device:
                label = _quote(f"{r.name}\\n{r.op}")
                lines.append(f'    {_quote(r.name)} [label={label}, fillcolor="{FILL[r.role]}"];')
        lines.append("  }")
    lines += _inner_edges(cut)
    for e in edge_rows(cut):
        style = "dashed" if e.kind == "control" else "bold"
        size = "?" if e.bytes is None else str(e.bytes)
        source = e.tensor.split(":")[0]
        for consumer in e.consumers:
            lines.append(
                f"  {_quote(source)} -> {_quote(consumer.lstrip('^'))} "
                f'[style={style}, color="#b03030", label={_quote(size + " B")}];'
            )
    return "\n".join([*lines, "}"]) + "\n"


def _inner_edges(cut: Partitioned) -> list[str]:
    """Edges inside the devices."""
    lines = []
    for nodes in cut.parts.values():
        here = {n.name for n in nodes if n.op not in CUT_OPS and n.name in cut.placement}
        for n in nodes:
            if n.name in here:
                for source, _ in n.inputs:
                    if source in here:
                        lines.append(f"  {_quote(source)} -> {_quote(n.name)};")
                for source in n.control:
                    if source in here:
                        lines.append(f"  {_quote(source)} -> {_quote(n.name)} [style=dotted];")
    return lines


def _quote(text: str) -> str:
    return '"' + text.replace('"', r"\"") + '"'
