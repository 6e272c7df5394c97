"""Bidirectional networks on top of each other (TF: contrib.rnn)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitf.ops import array
from minitf.rnn.dynamic import bidirectional_dynamic_rnn
from minitf.rnn.static import static_bidirectional_rnn
from minitf.variable_scope import variable_scope


def stack_bidirectional_rnn(
    cells_fw: list[Any],
    cells_bw: list[Any],
    inputs: Any,
    initial_states_fw: Any = None,
    initial_states_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> tuple[Any, Any, Any]:
    """static_bidirectional_rnn for each pair of cells: outputs, last states of both directions."""

    def run(pair: Any, inputs: Any, starts: Any, scope: Any) -> Any:
        return static_bidirectional_rnn(
            *pair, inputs, *starts, dtype=dtype, sequence_length=sequence_length, scope=scope
        )

    starts = _starts(cells_fw, cells_bw, initial_states_fw, initial_states_bw)
    return _stacked(list(zip(cells_fw, cells_bw)), inputs, starts, scope, run)


def stack_bidirectional_dynamic_rnn(
    cells_fw: list[Any],
    cells_bw: list[Any],
    inputs: Any,
    initial_states_fw: Any = None,
    initial_states_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    parallel_iterations: int | None = None,
    time_major: bool = False,
    scope: Any = None,
    swap_memory: bool = False,
) -> tuple[Any, Any, Any]:
    """bidirectional_dynamic_rnn for each pair of cells: outputs, last states of both directions."""

    def run(pair: Any, inputs: Any, starts: Any, _: Any) -> Any:
        outputs, states = bidirectional_dynamic_rnn(
            *pair, inputs, sequence_length, *starts, dtype=dtype,
            parallel_iterations=parallel_iterations, swap_memory=swap_memory,
            time_major=time_major,
        )  # fmt: skip
        return array.concat(outputs, 2), *states

    starts = _starts(cells_fw, cells_bw, initial_states_fw, initial_states_bw)
    return _stacked(list(zip(cells_fw, cells_bw)), inputs, starts, scope, run)


def _stacked(
    pairs: list[Any], outputs: Any, starts: list[Any], scope: Any, run: Callable[..., Any]
) -> tuple[Any, Any, Any]:
    states = []
    with variable_scope(scope or "stack_bidirectional_rnn"):
        for i, (pair, start) in enumerate(zip(pairs, starts)):
            with variable_scope(f"cell_{i}") as opened:
                outputs, *ends = run(pair, outputs, start, opened)
            states.append(ends)
    forward, backward = zip(*states)
    return outputs, forward, backward


def _starts(cells_fw: Any, cells_bw: Any, states_fw: Any, states_bw: Any) -> list[Any]:
    """The states that each pair of cells starts with. Raises ValueError for unlike lists."""
    for cells, way in ((cells_fw, "fw"), (cells_bw, "bw")):
        if not cells:
            raise ValueError(f"Must specify at least one {way} cell for BidirectionalRNN.")
        if not isinstance(cells, list):
            raise ValueError(f"cells_{way} must be a list of RNNCells (one per layer).")
    if len(cells_fw) != len(cells_bw):
        raise ValueError("Forward and Backward cells must have the same depth.")
    for states, way in ((states_fw, "fw"), (states_bw, "bw")):
        given = isinstance(states, list) and len(states) == len(cells_fw)
        if states is not None and not given:
            raise ValueError(
                f"initial_states_{way} must be a list of state tensors (one per layer)."
            )
    none = [None] * len(cells_fw)
    return list(zip(states_fw or none, states_bw or none))
