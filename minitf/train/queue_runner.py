"""tf.train.QueueRunner: threads that fill a queue by running its enqueue ops again and again."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from minitf import tf_logging
from minitf.default import (
    GraphKeys,
    add_to_collection,
    get_collection,
    get_default_graph,
    get_default_session,
)
from minitf.errors import error_code_from_exception_type, exception_type_from_error_code
from minitf.operation import Operation
from minitf.ops.queue import QueueBase
from minitf.proto.meta_graph import QueueRunnerDef
from minitf.scoped_names import is_below, within_scope, without_scope
from minitf.session import BaseSession
from minitf.train.coordinator import Coordinator
from minitf_runtime.errors import OpError, OutOfRangeError


class QueueRunner:
    """The enqueue ops of a queue, each to be run by a thread until it fails or is told to stop.

    When the last thread has seen the end of its input the queue is closed. Raises ValueError
    without queue or ops, TypeError for exception types that are no tf.errors.
    """

    def __init__(
        self,
        queue: Any = None,
        enqueue_ops: Sequence[Any] | None = None,
        close_op: Operation | None = None,
        cancel_op: Operation | None = None,
        queue_closed_exception_types: tuple[type[OpError], ...] | None = None,
        queue_runner_def: QueueRunnerDef | None = None,
        import_scope: str | None = None,
    ) -> None:
        if queue_runner_def is not None:
            if queue or enqueue_ops:
                raise ValueError("queue_runner_def and queue are mutually exclusive.")
            queue, enqueue_ops, close_op, cancel_op, queue_closed_exception_types = _parts_of(
                queue_runner_def, import_scope
            )
        if not queue or not enqueue_ops:
            raise ValueError("Must provide queue and enqueue_ops.")
        types = queue_closed_exception_types
        if types is not None and not (
            isinstance(types, tuple) and types and all(issubclass(t, OpError) for t in types)
        ):
            raise TypeError(
                "queue_closed_exception_types, when provided, must be a tuple of tf.error types, "
                f"but saw: {types}"
            )
        self.queue = queue
        self.enqueue_ops = enqueue_ops
        self.queue_closed_exception_types = types or (OutOfRangeError,)
        self.close_op = queue.close() if close_op is None else close_op
        if cancel_op is None:
            cancel_op = queue.close(cancel_pending_enqueues=True)
        self.cancel_op = cancel_op
        self.exceptions_raised: list[BaseException] = []
        self._lock = threading.Lock()
        self._runs_per_session: Any = weakref.WeakKeyDictionary()

    @property
    def name(self) -> str:
        return self.queue.name  # type: ignore[no-any-return]

    def to_proto(self, export_scope: str | None = None) -> QueueRunnerDef | None:
        """The names of the ops, without the scope; None if the queue is not in the scope."""
        if not is_below(self.name, export_scope):
            return None
        rename = without_scope(export_scope)
        return QueueRunnerDef(
            queue_name=rename(self.name),
            enqueue_op_name=[rename(op.name) for op in self.enqueue_ops],
            close_op_name=rename(self.close_op.name),
            cancel_op_name=rename(self.cancel_op.name),
            queue_closed_exception_types=[
                error_code_from_exception_type(t) for t in self.queue_closed_exception_types
            ],
        )

    @staticmethod
    def from_proto(
        queue_runner_def: QueueRunnerDef, import_scope: str | None = None
    ) -> QueueRunner:
        """The runner of ops that are in the default graph. Raises KeyError if one is missing."""
        return QueueRunner(queue_runner_def=queue_runner_def, import_scope=import_scope)

    def create_threads(
        self,
        sess: Any,
        coord: Coordinator | None = None,
        daemon: bool = False,
        start: bool = False,
    ) -> list[threading.Thread]:
        """A thread for each enqueue op, and one that cancels them when the coordinator stops.

        None if threads for this session are running.
        """
        with self._lock:
            if self._runs_per_session.get(sess, 0) > 0:
                return []
            self._runs_per_session[sess] = len(self.enqueue_ops)
            self.exceptions_raised = []
        threads = [self._thread(op.name, self._run, sess, op, coord) for op in self.enqueue_ops]
        if coord is not None:
            threads.append(self._thread("close_on_stop", self._cancel_on_stop, sess, coord))
        for thread in threads:
            if coord is not None:
                coord.register_thread(thread)
            thread.daemon = daemon or thread.daemon
            if start:
                thread.start()
        return threads

    def _thread(self, purpose: str, target: Any, *args: Any) -> threading.Thread:
        name = f"QueueRunnerThread-{self.name}-{purpose}"
        return threading.Thread(target=target, args=args, name=name)

    def _run(self, sess: Any, enqueue_op: Any, coord: Coordinator | None) -> None:
        """One thread: enqueues until the input ends, the queue is closed or a stop is requested."""
        try:
            enqueue = self._enqueuer(sess, enqueue_op)
            while coord is None or not coord.should_stop():
                enqueue()
            self._ended(sess)
        except self.queue_closed_exception_types:
            if self._ended(sess) == 0:
                _run_quietly(sess, self.close_op)
        except Exception as e:
            self._ended(sess)
            if coord is not None and coord.joined:  # its session was closed: nobody waits for it
                tf_logging.vlog(1, "Ignored exception: %s", e)
                return
            if coord is not None:
                coord.request_stop(e)
                return
            tf_logging.error("Exception in QueueRunner: %s", e)
            with self._lock:
                self.exceptions_raised.append(e)
            raise

    def _enqueuer(self, sess: Any, enqueue_op: Any) -> Callable[[], Any]:
        """What a thread calls again and again."""
        return sess.make_callable(enqueue_op)  # type: ignore[no-any-return]

    def _ended(self, sess: Any) -> int:
        """Counts a thread out; how many are left."""
        with self._lock:
            self._runs_per_session[sess] -= 1
            return self._runs_per_session[sess]  # type: ignore[no-any-return]

    def _cancel_on_stop(self, sess: Any, coord: Coordinator) -> None:
        coord.wait_for_stop()
        _run_quietly(sess, self.cancel_op)


def _parts_of(made: QueueRunnerDef, import_scope: str | None) -> tuple[Any, ...]:
    """The arguments of a QueueRunner that a message tells."""
    rename = within_scope(import_scope)
    find = get_default_graph().get_operation_by_name
    op = find(rename(made.queue_name))
    types = tuple(exception_type_from_error_code(c) for c in made.queue_closed_exception_types)
    return (
        QueueBase(op.get_attr("component_types"), None, None, op.outputs[0]),
        [find(rename(name)) for name in made.enqueue_op_name],
        find(rename(made.close_op_name)),
        find(rename(made.cancel_op_name)),
        types or None,
    )


def _run_quietly(sess: Any, op: Operation) -> None:
    """Runs an op of the way down, which may fail because the session is closed already."""
    try:
        sess.run(op)
    except (OpError, RuntimeError) as e:
        tf_logging.vlog(1, "Ignored exception: %s", e)


def add_queue_runner(qr: QueueRunner, collection: str = GraphKeys.QUEUE_RUNNERS) -> None:
    """Adds a queue runner for start_queue_runners to start."""
    add_to_collection(collection, qr)


def start_queue_runners(
    sess: Any = None,
    coord: Coordinator | None = None,
    daemon: bool = True,
    start: bool = True,
    collection: str = GraphKeys.QUEUE_RUNNERS,
) -> list[threading.Thread]:
    """Starts all queue runners of the graph; gives their threads. Raises ValueError, TypeError."""
    sess = get_default_session() if sess is None else sess
    if sess is None:
        raise ValueError(
            "Cannot start queue runners: No default session is registered. Use `with "
            "sess.as_default()` or pass an explicit session to tf.start_queue_runners(sess=sess)"
        )
    if type(sess).__name__ in ("MonitoredSession", "SingularMonitoredSession"):
        return []
    if not isinstance(sess, BaseSession):
        raise TypeError(f"sess must be a `tf.Session` object. Given class: {type(sess)}")
    threads = []
    with sess.graph.as_default():
        runners = get_collection(collection)
        if not runners:
            tf_logging.warning(
                "`tf.train.start_queue_runners()` was called when no queue runners were defined. "
                "You can safely remove the call to this deprecated function."
            )
        for runner in runners:
            threads += runner.create_threads(sess, coord=coord, daemon=daemon, start=start)
    return threads
