"""What the functions of an Estimator take: hooks, listeners, numbers of steps, subclasses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from minitf.train.saving_hooks import CheckpointSaverListener
from minitf.train.session_run_hook import SessionRunHook

_MAY_BE_OVERRIDDEN = {"model_fn"}


def checked_hooks(hooks: Iterable[SessionRunHook] | None) -> list[SessionRunHook]:
    found = list(hooks or ())
    for hook in found:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(f"Hooks must be a SessionRunHook, given: {hook}")
    return found


def checked_listeners(
    listeners: Iterable[CheckpointSaverListener] | None,
) -> list[CheckpointSaverListener]:
    found = list(listeners or ())
    for listener in found:
        if not isinstance(listener, CheckpointSaverListener):
            raise TypeError(
                f"saving_listeners must be a list of CheckpointSaverListener, given: {listener}"
            )
    return found


def check_positive(what: str, steps: Any) -> None:
    if steps is not None and steps <= 0:
        raise ValueError(f"Must specify {what} > 0, given: {steps}")


def check_members(base: type, cls: type) -> None:
    """Raises ValueError for a subclass that replaces what the base class does."""
    own = {name for name in dir(base) if not name.startswith("__")}
    replaced = own & vars(cls).keys() - _MAY_BE_OVERRIDDEN if cls is not base else set()
    if replaced:
        raise ValueError(
            "Subclasses of Estimator cannot override members of Estimator. "
            f"{cls} does override {sorted(replaced)}"
        )
