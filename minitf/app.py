"""tf.app: `run` starts a script's `main` with its flags parsed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from minitf import flags

__all__ = ["flags", "run"]


def run(
    main: Callable[[list[str]], Any] | None = None, argv: Sequence[str] | None = None
) -> NoReturn:
    """Calls `main` (or __main__.main) with the arguments that are no flags, then exits."""
    from absl import app

    app.run(main or sys.modules["__main__"].main, argv=argv, flags_parser=_parse)  # type: ignore


def _parse(argv: Sequence[str] | None) -> list[str]:
    """Unknown flags are left to `main` (TF: absl alone refuses them)."""
    left: list[str] = flags.FLAGS(sys.argv if argv is None else argv, known_only=True)
    return left
