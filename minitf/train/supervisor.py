"""tf.train.Supervisor: restores or initializes a model, saves it, and ends all threads together."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from minitf import tf_logging
from minitf.default import GraphKeys, get_default_graph
from minitf.graph import Graph
from minitf.session import Session
from minitf.train import events
from minitf.train.coordinator import Coordinator, LooperThread
from minitf.train.global_step import global_step
from minitf.train.session_manager import SessionManager
from minitf.train.supervisor_ops import USE_DEFAULT, check_devices, given_or_made, writer
from minitf.train.supervisor_threads import CheckpointThread, StepCounterThread, SummaryThread
from minitf_runtime.errors import AbortedError, OpError


class Supervisor:
    """Makes the ops that it needs, finalizes the graph, and then manages sessions.

    An argument left at USE_DEFAULT is taken from its collection, or else made; None does without.
    Raises ValueError on a worker if a variable has no device.
    """

    USE_DEFAULT = USE_DEFAULT

    def __init__(
        self,
        graph: Graph | None = None,
        ready_op: Any = USE_DEFAULT,
        ready_for_local_init_op: Any = USE_DEFAULT,
        is_chief: bool = True,
        init_op: Any = USE_DEFAULT,
        init_feed_dict: Any = None,
        local_init_op: Any = USE_DEFAULT,
        logdir: str | None = None,
        summary_op: Any = USE_DEFAULT,
        saver: Any = USE_DEFAULT,
        global_step: Any = USE_DEFAULT,
        save_summaries_secs: float = 120,
        save_model_secs: float = 600,
        recovery_wait_secs: float = 30,
        stop_grace_secs: float = 120,
        checkpoint_basename: str = "model.ckpt",
        session_manager: SessionManager | None = None,
        summary_writer: Any = USE_DEFAULT,
        init_fn: Callable[[Session], Any] | None = None,
        local_init_run_options: Any = None,
    ) -> None:
        self._graph = graph or get_default_graph()
        with self._graph.as_default():
            self.ready_op = given_or_made(ready_op, GraphKeys.READY_OP)
            self.ready_for_local_init_op = given_or_made(
                ready_for_local_init_op, GraphKeys.READY_FOR_LOCAL_INIT_OP
            )
            self.init_op = given_or_made(init_op, GraphKeys.INIT_OP)
            self.local_init_op = given_or_made(local_init_op, GraphKeys.LOCAL_INIT_OP)
            self.saver = given_or_made(saver, GraphKeys.SAVERS)
            self.summary_op = given_or_made(summary_op, GraphKeys.SUMMARY_OP)
            self.global_step = given_or_made(global_step, GraphKeys.GLOBAL_STEP)
        self.init_feed_dict = init_feed_dict
        self.is_chief = is_chief
        self.coord = Coordinator()
        self._init_fn = init_fn
        self._stop_grace_secs = stop_grace_secs
        self._logdir = logdir if is_chief else None
        self.save_summaries_secs = save_summaries_secs if is_chief else None
        self.save_model_secs = save_model_secs if is_chief else None
        self.save_path = os.path.join(self._logdir, checkpoint_basename) if self._logdir else None
        self.summary_writer = None
        if is_chief:
            self.summary_writer = writer(summary_writer, self._logdir)
        self._graph_written = False
        self.session_manager = session_manager or SessionManager(
            local_init_op=self.local_init_op,
            ready_op=self.ready_op,
            ready_for_local_init_op=self.ready_for_local_init_op,
            graph=self._graph,
            recovery_wait_secs=recovery_wait_secs,
            local_init_run_options=local_init_run_options,
        )
        if not is_chief:
            check_devices(self._graph)
        self._graph.finalize()

    # ---- sessions

    def prepare_or_wait_for_session(
        self,
        master: str = "",
        config: Any = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        start_standard_services: bool = True,
    ) -> Session:
        """A session with a ready model; the chief makes it ready, others wait for that.

        Starts the queue runners and, on the chief, the services that save.
        """
        self.coord.clear_stop()
        if self.summary_writer:
            self.summary_writer.reopen()
        if not self.is_chief:
            sess = self.session_manager.wait_for_session(
                master, config=config, max_wait_secs=max_wait_secs
            )
        else:
            sess = self.session_manager.prepare_session(
                master,
                init_op=self.init_op,
                saver=self.saver,
                checkpoint_dir=self._logdir,
                wait_for_checkpoint=wait_for_checkpoint,
                max_wait_secs=max_wait_secs,
                config=config,
                init_feed_dict=self.init_feed_dict,
                init_fn=self._init_fn,
            )
            self._write_graph()
            if start_standard_services:
                tf_logging.info("Starting standard services.")
                self.start_standard_services(sess)
        if start_standard_services:
            tf_logging.info("Starting queue runners.")
            self.start_queue_runners(sess)
        return sess

    @contextmanager
    def managed_session(
        self,
        master: str = "",
        config: Any = None,
        start_standard_services: bool = True,
        close_summary_writer: bool = True,
    ) -> Iterator[Session]:
        """A session that is closed, and whose threads are stopped, at the end of the block.

        Raises the first error, of the block or of a thread; the end of an input is none.
        """
        sess = None
        try:
            sess = self.prepare_or_wait_for_session(
                master, config, start_standard_services=start_standard_services
            )
            yield sess
        except Exception as e:
            self.request_stop(e)
        finally:
            try:
                self.stop(close_summary_writer=close_summary_writer)
            finally:
                _close_quietly(sess)

    # ---- services

    def start_standard_services(self, sess: Session) -> list[LooperThread]:
        """Starts the threads that save checkpoints and summaries to the logdir.

        Raises RuntimeError on other workers than the chief.
        """
        if not self.is_chief:
            raise RuntimeError(
                "Only chief supervisor can start standard services. Because only chief "
                "supervisors can write events."
            )
        if not self._logdir:
            tf_logging.warning("Standard services need a 'logdir' passed to the SessionManager")
            return []
        if self.global_step is not None and self.summary_writer:
            events.add_start(self.summary_writer, global_step(sess, self.global_step))
        threads: list[LooperThread] = []
        if self.save_summaries_secs and self.summary_writer:
            if self.summary_op is not None:
                threads.append(SummaryThread(self, sess))
            if self.global_step is not None:
                threads.append(StepCounterThread(self, sess))
        if self.saver and self.save_model_secs:
            threads.append(CheckpointThread(self, sess))
        for thread in threads:
            thread.start()
        return threads

    def start_queue_runners(
        self, sess: Session, queue_runners: Sequence[Any] | None = None
    ) -> list[threading.Thread]:
        """Starts the given queue runners, or all of the graph."""
        if queue_runners is None:
            queue_runners = self._graph.get_collection(GraphKeys.QUEUE_RUNNERS)
        threads: list[threading.Thread] = []
        for runner in queue_runners:
            threads += runner.create_threads(sess, coord=self.coord, daemon=True, start=True)
        return threads

    def loop(
        self,
        timer_interval_secs: float | None,
        target: Callable[..., Any],
        args: Any = None,
        kwargs: Any = None,
    ) -> LooperThread:
        """A thread that calls `target` again and again until the stop."""
        return LooperThread.loop(self.coord, timer_interval_secs, target, args, kwargs)

    def summary_computed(self, sess: Session, summary: Any, global_step: Any = None) -> None:
        """Writes a summary. Raises RuntimeError without a writer."""
        if not self.summary_writer:
            raise RuntimeError("Writing a summary requires a summary writer.")
        if global_step is None and self.global_step is not None:
            global_step = int(sess.run(self.global_step))
        self.summary_writer.add_summary(summary, global_step)

    def _write_graph(self) -> None:
        if self._logdir:
            events.write_graph(self._graph, self._logdir)
        if self.summary_writer and not self._graph_written:
            events.add_graph(self.summary_writer, self._graph, self.saver)
            self._graph_written = True

    # ---- stopping

    def stop(
        self,
        threads: Sequence[threading.Thread] | None = None,
        close_summary_writer: bool = True,
        ignore_live_threads: bool = False,
    ) -> None:
        """Stops the threads and waits for them. Raises the error that was reported."""
        self.coord.request_stop()
        try:
            self.coord.join(
                threads,
                stop_grace_period_secs=self._stop_grace_secs,
                ignore_live_threads=ignore_live_threads,
            )
        finally:
            if close_summary_writer and self.summary_writer:
                events.add_stop(self.summary_writer)
                self.summary_writer.close()
                self._graph_written = False

    def request_stop(self, ex: Any = None) -> None:
        self.coord.request_stop(ex)

    def should_stop(self) -> bool:
        return self.coord.should_stop()

    def stop_on_exception(self) -> AbstractContextManager[None]:
        return self.coord.stop_on_exception()

    def wait_for_stop(self) -> None:
        self.coord.wait_for_stop()

    PrepareSession = prepare_or_wait_for_session
    StartQueueRunners = start_queue_runners
    StartStandardServices = start_standard_services
    Stop = stop
    RequestStop = request_stop
    Loop = loop
    ShouldStop = should_stop
    StopOnException = stop_on_exception
    WaitForStop = wait_for_stop
    SummaryComputed = summary_computed


def basic_train_loop(
    supervisor: Supervisor,
    train_step_fn: Callable[..., Any],
    args: Any = None,
    kwargs: Any = None,
    master: str = "",
) -> None:
    """Calls `train_step_fn(session, *args, **kwargs)` until the supervisor says to stop.

    A session that was lost (AbortedError) is made anew.
    """
    lost = True
    while lost:
        lost = False
        try:
            with supervisor.managed_session(master) as session:
                while not supervisor.should_stop():
                    train_step_fn(session, *(args or ()), **(kwargs or {}))
        except AbortedError:
            lost = True


def _close_quietly(sess: Session | None) -> None:
    try:
        if sess is not None:
            sess.close()
    except OpError as e:
        tf_logging.vlog(1, "Ignored exception: %s", e)
