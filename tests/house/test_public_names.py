"""The public names of minitf are listed in names.txt; a name that comes or goes is seen here.

`python tests/house/test_public_names.py --write` writes the list anew.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import minitf

LIST = Path(__file__).with_name("names.txt")


def public(module: ModuleType, prefix: str = "") -> Iterator[str]:
    """Dotted public names: what `__all__` lists, else what the module has of ours."""
    listed = getattr(module, "__all__", None)
    named = names_in_source(module)
    for name in sorted(listed or (n for n in dir(module) if not n.startswith("_"))):
        value = getattr(module, name)
        if not isinstance(value, ModuleType):
            if listed or is_ours(value):
                yield prefix + name
        elif value.__name__.startswith("minitf.") and name in named:
            yield from public(value, f"{prefix}{name}.")


def names_in_source(module: ModuleType) -> set[str]:
    """Names that a module's file imports or assigns: its submodules are not all meant as names."""
    tree = ast.parse(Path(module.__file__).read_text("utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    names = {alias.asname or alias.name for node in imports for alias in node.names}
    for table in (node for node in ast.walk(tree) if isinstance(node, (ast.Dict, ast.Tuple))):
        names |= words(table)
    return names | {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def words(table: ast.Dict | ast.Tuple) -> set[str]:
    """Names in a table: {module: "name public=its_name"}, where "" stands for the module itself."""
    if isinstance(table, ast.Tuple):
        texts = list(table.elts)
    else:
        pairs = zip(table.keys, table.values)
        texts = [k if getattr(v, "value", None) == "" else v for k, v in pairs]
    found = [t.value for t in texts if isinstance(t, ast.Constant) and isinstance(t.value, str)]
    return {w.partition("=")[0].rpartition(".")[2] for text in found for w in text.split()}


def is_ours(value: object) -> bool:
    """Whether a value in a module without `__all__` is more than something that it imported."""
    home = getattr(value, "__module__", None) or type(value).__module__
    return home.partition(".")[0] in {"minitf", "minitf_runtime", "builtins"}


def test_public_names():
    listed, found = set(LIST.read_text("utf-8").split()), set(public(minitf))
    assert {"missing": sorted(listed - found), "new": sorted(found - listed)} == {
        "missing": [],
        "new": [],
    }, "python tests/house/test_public_names.py --write takes these into the list"


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit(__doc__)
    LIST.write_text("\n".join(public(minitf)) + "\n", "utf-8")
