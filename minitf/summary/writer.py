"""FileWriter: appends events to a file of its own in a log directory."""

from __future__ import annotations

import itertools
import os
import socket
import threading
import time
import warnings
from typing import Any, ClassVar

from minitf import tf_logging
from minitf.default import get_default_graph
from minitf.graph import Graph
from minitf.proto.event import Event, Summary, TaggedRunMetadata
from minitf.proto.graph import GraphDef
from minitf.proto.meta_graph import MetaGraphDef
from minitf_runtime.errors import UnimplementedError
from minitf_runtime.storage.files import named
from minitf_runtime.storage.records import RecordWriter

_FILE_VERSION = "brain.Event:2"
_MOST_WAITING = 1 << 16  # bytes; more are written at once


class FileWriter:
    """Writes events; the file is made by the first of them (TF: FileWriter).

    Events reach the disk every `flush_secs`, and at flush(), close() and the end of the process. A
    graph that is given comes first, for TensorBoard's graph tab. Methods that write raise OpError
    naming the file, as ResourceExhaustedError on a full disk: the file then ends with its last
    whole event, and the events that wait are written once there is room.
    """

    def __init__(
        self,
        logdir: str,
        graph: Any = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        graph_def: Any = None,
        filename_suffix: str | None = None,
        session: Any = None,
    ) -> None:
        if session is not None:
            raise UnimplementedError(None, None, "a FileWriter that writes by ops of a session")
        self._logdir = os.fspath(logdir)
        self._flush_secs = flush_secs
        self._suffix = filename_suffix or ""
        self._lock = threading.RLock()
        self._file: RecordWriter | None = None
        self._next_flush = 0.0
        self._closed = False
        self._tags_with_metadata: set[str] = set()
        self._run_tags: set[str] = set()
        with named(self._logdir):
            os.makedirs(self._logdir, exist_ok=True)
        if graph is not None or graph_def is not None:
            self.add_graph(graph, graph_def=graph_def)
            made = MetaGraphDef()
            made.graph_def.CopyFrom(_as_graph_def(graph, graph_def))
            self.add_meta_graph(made)

    def __enter__(self) -> FileWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get_logdir(self) -> str:
        return self._logdir

    def add_summary(self, summary: Summary | bytes, global_step: Any = None) -> None:
        """Adds a Summary, or a serialised one as an op gives it. Raises DecodeError."""
        event = Event()
        if isinstance(summary, bytes):
            event.summary.MergeFromString(summary)
        else:
            event.summary.CopyFrom(summary)
        for value in event.summary.value:
            if not value.HasField("metadata"):
                continue
            if value.tag in self._tags_with_metadata:  # it is written once
                value.ClearField("metadata")
            self._tags_with_metadata.add(value.tag)
        self._add(event, global_step)

    def add_session_log(self, session_log: Any, global_step: Any = None) -> None:
        self._add(Event(session_log=session_log), global_step)

    def add_graph(self, graph: Any, global_step: Any = None, graph_def: Any = None) -> None:
        """Adds a Graph, or the GraphDef of one. Raises TypeError for anything else."""
        made = _as_graph_def(graph, graph_def)
        self._add(Event(graph_def=made.SerializeToString()), global_step)

    def add_meta_graph(self, meta_graph_def: Any, global_step: Any = None) -> None:
        if not isinstance(meta_graph_def, MetaGraphDef):
            raise TypeError(
                f"meta_graph_def must be type MetaGraphDef, saw type: {type(meta_graph_def)}"
            )
        self._add(Event(meta_graph_def=meta_graph_def.SerializeToString()), global_step)

    def add_run_metadata(self, run_metadata: Any, tag: str, global_step: Any = None) -> None:
        """Adds what a run told of itself. Raises ValueError for a tag that was used."""
        if tag in self._run_tags:
            raise ValueError("The provided tag was already used for this event type")
        self._run_tags.add(tag)
        tagged = TaggedRunMetadata(tag=tag, run_metadata=run_metadata.SerializeToString())
        self._add(Event(tagged_run_metadata=tagged), global_step)

    def _add(self, event: Event, step: Any) -> None:
        event.wall_time = time.time()
        if step is not None:
            event.step = int(step)
        self.add_event(event)

    def add_event(self, event: Event) -> None:
        """Appends an event as it is; a closed writer warns and drops it."""
        with self._lock, named(self._logdir):
            if self._warned_of_closed():
                return
            if self._file is None:
                self._file = self._open()
            self._file.write(event.SerializeToString())
            if time.monotonic() >= self._next_flush or self._file.waiting > _MOST_WAITING:
                self.flush()

    def flush(self) -> None:
        with self._lock:
            if self._warned_of_closed() or self._file is None:
                return
            self._next_flush = time.monotonic() + self._flush_secs
            self._file.flush()

    def close(self) -> None:
        """Writes what is left; reopen() goes on, in a new file."""
        with self._lock:
            self._closed = True
            file, self._file = self._file, None
            if file is not None:
                file.close()

    def reopen(self) -> None:
        self._closed = False

    def _warned_of_closed(self) -> bool:
        if self._closed:
            warnings.warn(
                "Attempting to use a closed FileWriter. The operation will be a noop unless the "
                "FileWriter is explicitly reopened.",
                stacklevel=3,
            )
        return self._closed

    def _open(self) -> RecordWriter:
        """A new file of this second; several writers of one second get files of their own."""
        now = time.time()
        base = f"events.out.tfevents.{int(now):010d}.{socket.gethostname()}"
        path = os.path.join(self._logdir, base + self._suffix)
        for n in itertools.count(1):
            try:
                file = RecordWriter(path)
                break
            except FileExistsError:
                path = os.path.join(self._logdir, f"{base}.{n}{self._suffix}")
        start = Event(wall_time=now, file_version=_FILE_VERSION)
        file.write(start.SerializeToString())
        return file


def _as_graph_def(graph: Any, graph_def: Any) -> GraphDef:
    if graph is not None and graph_def is not None:
        raise ValueError("Please pass only graph, or graph_def (deprecated), but not both.")
    given = graph_def if graph is None else graph
    if isinstance(given, Graph):
        return given.as_graph_def(add_shapes=True)  # type: ignore[no-any-return]
    if not isinstance(given, GraphDef):
        raise TypeError(
            "The passed graph must be an instance of `Graph` or the deprecated `GraphDef`"
        )
    tf_logging.warning(
        "Passing a `GraphDef` to the SummaryWriter is deprecated. Pass a `Graph` object instead, "
        "such as `sess.graph`."
    )
    return given


class FileWriterCache:
    """One FileWriter for each log directory."""

    _writers: ClassVar[dict[str, FileWriter]] = {}
    _lock = threading.RLock()

    @classmethod
    def clear(cls) -> None:
        """Closes them all."""
        with cls._lock:
            for writer in cls._writers.values():
                writer.close()
            cls._writers.clear()

    @classmethod
    def get(cls, logdir: str) -> FileWriter:
        with cls._lock:
            if logdir not in cls._writers:
                cls._writers[logdir] = FileWriter(logdir, graph=get_default_graph())
            return cls._writers[logdir]
