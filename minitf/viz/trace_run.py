"""The statistics of a step: of one that a running cluster makes, or of one that is run here.

Here every task of the cluster is a server in this process.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from minitf.default import GraphKeys
from minitf.options import ConfigProto, RunMetadata, RunOptions
from minitf.proto.step_stats import StepStats
from minitf.session import Session
from minitf.train.coordinator import Coordinator
from minitf.train.queue_runner import start_queue_runners
from minitf.viz.capture import Captured, ancestors, needed_placeholders
from minitf.viz.live import record_steps
from minitf.viz.sizes import NOMINAL_BATCH
from minitf.viz.source import read, step_asked
from minitf.viz.trace import StepTrace
from minitf.viz.trace import read as read_trace
from minitf.viz.unreadable import Unreadable
from minitf_runtime.passes.data import Partitioned

LIMIT_MS = 60_000  # a step that takes longer waits for what nobody sends
INITIALIZED = (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES)


def trace_step(
    source: Any,
    *,
    fetches: Sequence[str] = (),
    steps: int = 10,
    batch: int = NOMINAL_BATCH,
    **options: Any,
) -> StepTrace:
    """Where the time goes in a step of a script, saved graph, running cluster or tf.Graph.

    The step runs in this process, so many times; of a running cluster these are the next ones that
    its program makes. The run of median length is given. options: those of minitf.viz.read. Raises
    Unreadable, or what the step raises.
    """
    captured = read(source, **options)
    return median(traced_steps(captured, step_asked(captured, fetches), steps, batch))[0][0]


def traced_steps(captured: Captured, cut: Partitioned, steps: int, batch: int) -> list[StepStats]:
    """The statistics of so many steps: of those of a running session, or else made here."""
    if captured.handle:
        return record_steps(captured, cut, steps)
    wanted = [*cut.targets, *(tensor for tensor, _ in cut.fetches)]
    return run_steps(captured, wanted, steps, batch)


def median(seen: Sequence[StepStats]) -> list[tuple[StepTrace, StepStats]]:
    """The runs read, that of median length first, then the shortest and the longest."""
    pairs = sorted(((read_trace(s), s) for s in seen), key=lambda pair: pair[0].duration)
    return [pairs[(len(pairs) - 1) // 2], pairs[0], pairs[-1]]


def run_steps(
    captured: Captured, fetches: Sequence[str], steps: int, batch: int
) -> list[StepStats]:
    """The statistics of each of so many steps, after one that is not counted.

    Variables are initialised; placeholders are fed ones, `batch` of them where the size is open.
    Raises OpError, DeadlineExceededError for a step that does not end, Unreadable for one of
    synchronous replicas: it waits for what other workers and their chief do.
    """
    graph = captured.graph
    wanted = [graph.as_graph_element(f) for f in fetches]
    needed = ancestors([getattr(w, "op", w) for w in wanted])
    if any(op.type.endswith("AccumulatorApplyGradient") for op in needed):
        raise Unreadable(
            f"{captured.origin} makes synchronous replicas: a step of one worker alone would wait "
            "for ever; trace it in the program, with tf.RunOptions"
        )
    feeds = _feeds(captured, wanted, batch)
    with _target(captured) as target, Session(target, graph, _config(captured)) as sess:
        _initialize(sess, captured, batch)
        with _queue_runners(sess):
            return [_traced(sess, wanted, feeds) for _ in range(steps + 1)][1:]


@contextmanager
def _queue_runners(sess: Session) -> Iterator[None]:
    """Those of the graph, while the block runs; the session is closed to end them."""
    if not sess.graph.get_collection(GraphKeys.QUEUE_RUNNERS):
        yield
        return
    coordinator = Coordinator()
    threads = start_queue_runners(sess, coordinator)
    try:
        yield
    finally:
        coordinator.request_stop()
        sess.close()
        coordinator.join(threads, ignore_live_threads=True)


def _traced(sess: Session, wanted: Sequence[Any], feeds: Mapping[Any, Any]) -> StepStats:
    options = RunOptions(trace_level=RunOptions.FULL_TRACE, timeout_in_ms=LIMIT_MS)
    metadata = RunMetadata()
    sess.run(list(wanted), feeds, options=options, run_metadata=metadata)
    return metadata.step_stats  # type: ignore[no-any-return]


def _initialize(sess: Session, captured: Captured, batch: int) -> None:
    graph = captured.graph
    ops = [v.initializer for key in INITIALIZED for v in graph.get_collection(key)]
    ops += graph.get_collection(GraphKeys.TABLE_INITIALIZERS)
    if ops:
        sess.run(ops, _feeds(captured, ops, batch), options=RunOptions(timeout_in_ms=LIMIT_MS))


def _feeds(captured: Captured, wanted: Sequence[Any], batch: int) -> dict[str, Any]:
    graph = captured.graph
    names = needed_placeholders(wanted)
    return {name: _ones(graph.get_tensor_by_name(name), batch) for name in names}


def _ones(tensor: Any, batch: int) -> Any:
    """A value to feed. Whole numbers are zeros: as an index 0 is the one that always is there."""
    dims = tensor.shape.as_list() if tensor.shape.ndims is not None else []
    shape = [batch if n is None else n for n in dims]
    dtype = tensor.dtype.as_numpy_dtype
    if dtype is object:
        return np.full(shape, b"", object)
    return np.zeros(shape, dtype) if tensor.dtype.is_integer else np.ones(shape, dtype)


def _config(captured: Captured) -> ConfigProto:
    options = captured.options
    return ConfigProto(
        device_count={"CPU": options.cpus},
        allow_soft_placement=options.allow_soft_placement,
        device_filters=options.device_filters,
        isolate_session_state=options.isolate_session_state,
    )


@contextmanager
def _target(captured: Captured) -> Iterator[str]:
    """The address of the task that the script ran as, with its whole cluster behind it."""
    cluster = captured.cluster
    if not cluster:
        yield ""
        return
    tasks = [(job, i) for job in cluster.jobs for i in cluster.task_indices(job)]
    ports = iter(_free_ports(len(tasks)))
    from minitf_runtime.server.service import Server  # sockets only when they are asked for

    hosts: dict[str, dict[int, str]] = {}
    for job, i in tasks:
        hosts.setdefault(job, {})[i] = f"127.0.0.1:{next(ports)}"
    servers: list[Server] = []
    try:
        for job, i in tasks:
            cpus = captured.cpus_of(f"/job:{job}/replica:0/task:{i}")
            servers.append(Server(hosts, job, i, cpus))
        yield f"grpc://{hosts[captured.task[0]][captured.task[1]]}"
    finally:
        for server in servers:
            server.stop()


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for s in sockets:
            s.bind(("127.0.0.1", 0))
        return [s.getsockname()[1] for s in sockets]
    finally:
        for s in sockets:
            s.close()
