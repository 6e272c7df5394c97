"""What a graph remembers of variable scopes: variables by name, and each thread's open scope."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from minitf.default import get_default_graph
from minitf.graph import Graph


class ScopeState(threading.local):
    """The state of one graph: `variables` shared by all threads, the rest of each thread's own."""

    def __init__(self, variables: dict[str, Any], partitioned: dict[str, Any]) -> None:
        self.variables = variables
        self.partitioned = partitioned
        self.current: Any = None  # the open VariableScope; None is the outermost
        self.counts: dict[str, int] = {}  # how often each scope was opened
        self.creators: list[Callable[..., Any]] = []

    def open(self, name: str) -> None:
        self.counts[name] = self.counts.get(name, 0) + 1

    def close_inside(self, name: str) -> None:
        """Forgets how often the scopes inside this one were opened."""
        for key in self.counts:
            if key.startswith(f"{name}/"):
                self.counts[key] = 0

    def unique_name(self, prefix: str) -> str:
        """`prefix`, with _1, _2 ... if a scope of that name was opened in the current one."""
        outer = f"{self.current.name}/" if self.current is not None and self.current.name else ""
        if not self.counts.get(outer + prefix):
            return prefix
        i = 1
        while self.counts.get(f"{outer}{prefix}_{i}"):
            i += 1
        return f"{prefix}_{i}"


def scope_state(graph: Graph | None = None) -> ScopeState:
    graph = graph or get_default_graph()
    if graph.variable_scope_store is None:
        graph.variable_scope_store = ScopeState({}, {})
    return graph.variable_scope_store  # type: ignore[no-any-return]
