"""The services of a chief Supervisor: threads that write summaries, the speed and checkpoints."""

from __future__ import annotations

import time
from typing import Any

from minitf import tf_logging
from minitf.session import Session
from minitf.train import events
from minitf.train.coordinator import LooperThread
from minitf.train.global_step import global_step


class SummaryThread(LooperThread):
    """Writes the summaries every `save_summaries_secs`."""

    def __init__(self, sv: Any, sess: Session) -> None:
        super().__init__(sv.coord, sv.save_summaries_secs)
        self._sv = sv
        self._sess = sess

    def run_loop(self) -> None:
        sv = self._sv
        if sv.global_step is None:
            summary, step = self._sess.run(sv.summary_op), None
        else:
            summary, step = self._sess.run([sv.summary_op, sv.global_step])
        tf_logging.info("Recording summary at step %s.", step)
        sv.summary_writer.add_summary(summary, step)


class StepCounterThread(LooperThread):
    """Writes how many steps are made in a second."""

    def __init__(self, sv: Any, sess: Session, step_counter: Any = None) -> None:
        super().__init__(sv.coord, sv.save_summaries_secs)
        self._sv = sv
        self._sess = sess
        self._counter = sv.global_step if step_counter is None else step_counter
        self._tag = f"{self._counter.op.name}/sec"

    def start_loop(self) -> None:
        self._last_time = time.time()
        self._last_step = global_step(self._sess, self._counter)

    def run_loop(self) -> None:
        step, now = global_step(self._sess, self._counter), time.time()
        seconds = now - self._last_time
        rate = (step - self._last_step) / seconds if seconds > 0 else float("inf")
        self._last_step, self._last_time = step, now
        events.add_scalar(self._sv.summary_writer, self._tag, rate, step)
        tf_logging.log_first_n(tf_logging.INFO, "%s: %g", 10, self._tag, rate)


class CheckpointThread(LooperThread):
    """Saves a checkpoint every `save_model_secs`."""

    def __init__(self, sv: Any, sess: Session) -> None:
        super().__init__(sv.coord, sv.save_model_secs)
        self._sv = sv
        self._sess = sess

    def run_loop(self) -> None:
        sv = self._sv
        tf_logging.info("Saving checkpoint to path %s", sv.save_path)
        sv.saver.save(self._sess, sv.save_path, global_step=sv.global_step)
        if sv.summary_writer and sv.global_step is not None:
            step = global_step(self._sess, sv.global_step)
            events.add_checkpoint(sv.summary_writer, sv.save_path, step)
