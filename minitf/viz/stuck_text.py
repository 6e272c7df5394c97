"""Steps that wait, as text for the terminal."""

from __future__ import annotations

import os
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from minitf.viz.reasons_text import line
from minitf.viz.rows import short
from minitf.viz.stuck_steps import Stuck, StuckStep
from minitf.viz.text import Column, fold, show_table

COLUMNS = (Column("on"), Column("for", right=True), Column("line"), Column("what"))


def show_stuck(found: Stuck, out: Console) -> None:
    """The chains of those steps that wait; those of one end together."""
    if not found.steps:
        _say(out, f"Nothing waits for more than {found.limit:g} s: {_asked(found)}")
    for steps in _by_end(found.steps):
        _show(steps, out)
    told = "".join(step.end for step in found.steps)
    for task, why in found.silent.items():
        if task not in told:
            _say(out, f"Task {task} {why}")


def _asked(found: Stuck) -> str:
    answered = found.tasks - len(found.silent)
    running = "no step runs" if not found.running else f"steps that run: {found.running}"
    return f"{answered} of {found.tasks} tasks answered, {running}"


def _by_end(steps: Sequence[StuckStep]) -> list[list[StuckStep]]:
    """Those that wait for the same together, that of the longest chain first."""
    groups: dict[object, list[StuckStep]] = {}
    for step in steps:
        groups.setdefault(_end(step), []).append(step)
    return [sorted(group, key=lambda s: -len(s.links)) for group in groups.values()]


def _end(step: StuckStep) -> object:
    if not step.links:
        return step.end, ()
    last = step.links[-1]
    return step.end, last.resource[:2] if step.end else (last.device, last.node)


def _show(steps: Sequence[StuckStep], out: Console) -> None:
    first, *others = steps
    rows = []
    for link in first.links:
        where = "" if link.step == first.step else " (in another step)"
        told = link.text + where
        rows.append((short(link.device), _seconds(link.seconds), line(link.line), told))
    if first.end:
        rows.append(("", "", "end", first.end.replace(os.getcwd() + os.sep, "")))
    notes = [f"likewise {_title(step)}" for step in others]
    if first.beside:
        notes.append(f"{first.beside} other threads of the step wait for the same end")
    show_table(out, _title(first), COLUMNS, rows, notes)


def _title(step: StuckStep) -> str:
    """worker:0, running train_op, waits for 12.3 s"""
    who = short(step.task) if step.task else "a master that does not answer"
    if step.opens:
        return f"{who}, opening a session, waits for {_seconds(step.seconds)}"
    does = "computes" if [link.kind for link in step.links] == ["compute"] else "waits"
    runs = ", ".join(step.runs) or "a step"
    return f"{who}, running {runs}, {does} for {_seconds(step.seconds)}"


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s"


def _say(out: Console, text: str) -> None:
    for part in fold(text, out.width):
        out.print(Text(part))
