"""What hooks and the supervisor write into event files. The files themselves: summary."""

from __future__ import annotations

from typing import Any

from minitf.graph import Graph
from minitf.proto.event import SessionLog, Summary
from minitf.summary.writer import FileWriterCache
from minitf.train import graph_io
from minitf.train.meta_graph import export_meta_graph


def writer(directory: str) -> Any:
    """The one FileWriter of the directory."""
    return FileWriterCache.get(directory)


def add_scalar(to: Any, tag: str, value: float, step: int) -> None:
    to.add_summary(Summary(value=[Summary.Value(tag=tag, simple_value=value)]), step)


def add_start(to: Any, step: int) -> None:
    """From this step on events are new: those of an earlier run with later steps do not count."""
    to.add_session_log(SessionLog(status=SessionLog.START), step)


def add_stop(to: Any) -> None:
    to.add_session_log(SessionLog(status=SessionLog.STOP))


def add_checkpoint(to: Any, path: str, step: int) -> None:
    to.add_session_log(SessionLog(status=SessionLog.CHECKPOINT, checkpoint_path=path), step)


def write_graph(graph: Graph, directory: str) -> None:
    """The graph as the file graph.pbtxt."""
    graph_io.write_graph(graph.as_graph_def(add_shapes=True), directory, "graph.pbtxt")


def add_graph(to: Any, graph: Graph, saver: Any) -> None:
    """The graph as an event, and with its saver as a meta graph."""
    to.add_graph(graph)
    to.add_meta_graph(
        export_meta_graph(
            graph_def=graph.as_graph_def(add_shapes=True),
            saver_def=saver.saver_def if saver else None,
            graph=graph,
        )
    )
