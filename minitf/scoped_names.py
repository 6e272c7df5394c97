"""Names below a name scope: an export takes the scope off, an import puts it before them."""

from __future__ import annotations

from collections.abc import Callable

Rename = Callable[[str], str]


def is_below(name: str, scope: str | None) -> bool:
    """Whether the op or tensor (also '^op', 'loc:@op') is the scope's own or one in it."""
    scope = (scope or "").rstrip("/")
    _, plain = _mark(name)
    return not scope or plain.partition(":")[0] == scope or plain.startswith(f"{scope}/")


def without_scope(scope: str | None) -> Rename:
    """Takes the scope off names that begin with it; leaves the others."""
    prefix = (scope or "").rstrip("/") + "/"

    def strip(name: str) -> str:
        mark, plain = _mark(name)
        return mark + plain[len(prefix) :] if plain.startswith(prefix) else name

    return strip if scope else str


def within_scope(scope: str | None) -> Rename:
    """Puts the scope before names."""
    prefix = (scope or "").rstrip("/") + "/"

    def prepend(name: str) -> str:
        mark, plain = _mark(name)
        return f"{mark}{prefix}{plain}"

    return prepend if scope else str


def _mark(name: str) -> tuple[str, str]:
    """('^' or 'loc:@' or '', the name)."""
    for mark in ("^", "loc:@"):
        if name.startswith(mark):
            return mark, name[len(mark) :]
    return "", name
