"""Reads which module imports which, by `ast`: no module is run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


class Import(NamedTuple):
    """`module` imports `target`, a module or a package. `lazy`: inside a function, or for types."""

    module: str
    target: str
    line: int
    lazy: bool


def modules_of(*roots: Path) -> dict[str, Path]:
    """Dotted name -> file of each module below the packages `roots`."""
    found = {}
    for root in roots:
        for file in root.rglob("*.py"):
            parts = file.relative_to(root.parent).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def imports_of(modules: dict[str, Path]) -> list[Import]:
    """Every import of one of `modules` by another, in a function or not."""
    return [i for name, file in modules.items() for i in _of_file(name, file, modules)]


def _of_file(name: str, file: Path, modules: dict[str, Path]) -> Iterator[Import]:
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    for node, lazy in _statements(ast.parse(file.read_text("utf-8")), False):
        for target in sorted(_targets(node, package, modules)):
            if target in modules and target != name:
                yield Import(name, target, node.lineno, lazy)


def _statements(node: ast.AST, lazy: bool) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            yield child, lazy
        typing_only = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
        function = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef))
        yield from _statements(child, lazy or typing_only or function)


def _targets(node: ast.Import | ast.ImportFrom, package: str, modules: dict[str, Path]) -> set[str]:
    names = [alias.name for alias in node.names]
    if isinstance(node, ast.Import):
        return set(names)
    above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
    base = ".".join([*above, *([node.module] if node.module else [])])
    return {inner if (inner := f"{base}.{name}") in modules else base for name in names}


def cycle(edges: list[Import]) -> list[str]:
    """Some circle of modules that import each other when loaded, or []."""
    after: dict[str, set[str]] = {}
    for edge in edges:
        if not edge.lazy:
            after.setdefault(edge.module, set()).add(edge.target)
    done: set[str] = set()

    def walk(module: str, path: list[str]) -> list[str]:
        if module in path:
            return [*path[path.index(module) :], module]
        if module in done:
            return []
        for target in sorted(after.get(module, ())):
            if found := walk(target, [*path, module]):
                return found
        done.add(module)
        return []

    return next((found for module in sorted(after) if (found := walk(module, []))), [])
