"""Readings of the one partitioned graph: rows.py computes them, text.py and dot.py show them.

`read` takes a script, a saved graph or a running cluster; `why`, `diff`, `wire`, `check`,
`balance` and `trace_step` ask questions of it; `stuck` asks what waits in a cluster.
"""

from minitf.viz.differences import diff as diff
from minitf.viz.hazards import check as check
from minitf.viz.loads import balance as balance
from minitf.viz.reasons import why as why
from minitf.viz.source import Unreadable as Unreadable
from minitf.viz.source import read as read
from minitf.viz.stuck_steps import stuck as stuck
from minitf.viz.trace_run import trace_step as trace_step
from minitf.viz.transfers import wire as wire
