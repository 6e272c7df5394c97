"""Steps whose pages are tested: that of an example, a big one, and one with hostile names."""

from __future__ import annotations

from minitf.viz.capture import capture, default_targets, step_of
from minitf_runtime.graph import Graph
from minitf_runtime.passes.data import Partitioned
from minitf_runtime.passes.pipeline import partition_graph
from passes.build import CPU, node, only_cpu

HOSTILE = (
    "</script><script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=1>",
    "a\u2028b\u2029c'\"`${window.hacked=1}",
    "__proto__",
)
TWO_AND_TWO = {"ps": ["a:1", "a:2"], "worker": ["a:3", "a:4"]}


def step_of_script(script: object) -> Partitioned:
    captured = capture(str(script), [], TWO_AND_TWO, ("worker", 0))
    return step_of(captured, default_targets(captured.graph))


def big_step(ops: int = 10_000) -> Partitioned:
    """A chain in blocks of ten ops, each with a parameter on a ps."""
    nodes = []
    before = []
    for block in range(ops // 10):
        scope = f"block{block}"
        nodes.append(node(f"{scope}/w", op="Const", device=f"/job:ps/task:{block % 2}"))
        for i in range(9):
            inputs = [*before, f"{scope}/w"] if not i else before
            nodes.append(node(f"{scope}/part{i // 3}/op{i}", *inputs, device="/job:worker/task:0"))
            before = [nodes[-1].name]
    return cut(nodes, before)


def hostile_step() -> Partitioned:
    """Ops, lines, attributes and reasons that hold markup and JavaScript."""
    nodes = [
        node(name, op="Const", device=f"/job:ps/task:{i % 2}", value=name).with_(
            source=f"{name}.py:1", op=name
        )
        for i, name in enumerate(HOSTILE)
    ]
    nodes.append(node("end", *HOSTILE, op="AddN", device="/job:worker/task:0"))
    return cut(nodes, ["end"])


def cut(nodes: list, targets: list[str]) -> Partitioned:
    return partition_graph(Graph(nodes), CPU, targets=targets, kernel_types=only_cpu)
