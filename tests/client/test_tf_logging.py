"""tf.logging: levels, counters, and where messages go."""

from __future__ import annotations

import logging
import subprocess
import sys

import pytest

from minitf import tf_logging


@pytest.fixture(autouse=True)
def _restore_level():
    level = tf_logging.get_logger().level
    yield
    tf_logging.set_verbosity(level)


def test_levels(caplog):
    assert tf_logging.get_verbosity() == tf_logging.WARN == 30
    tf_logging.info("unseen")
    tf_logging.set_verbosity(tf_logging.INFO)
    tf_logging.debug("unseen")
    tf_logging.info("i %d", 1)
    tf_logging.warn("w")
    tf_logging.warning("w")
    tf_logging.error("e")
    tf_logging.fatal("f")
    tf_logging.log(tf_logging.ERROR, "l")
    tf_logging.vlog(tf_logging.INFO, "v")
    tf_logging.TaskLevelStatusMessage("t")
    tf_logging.flush()
    assert [(r.levelno, r.getMessage()) for r in caplog.records] == [
        (20, "i 1"),
        (30, "w"),
        (30, "w"),
        (40, "e"),
        (50, "f"),
        (40, "l"),
        (20, "v"),
        (40, "t"),
    ]
    assert {r.filename for r in caplog.records} == {"test_tf_logging.py"}


def test_counters(caplog):
    for i in range(5):
        tf_logging.log_every_n(logging.ERROR, "every %d", 2, i)
        tf_logging.log_first_n(logging.ERROR, "first %d", 2, i)
        tf_logging.log_if(logging.ERROR, "if %d", i == 3, i)
    assert caplog.messages == ["every 0", "first 0", "first 1", "every 2", "if 3", "every 4"]
    assert {r.filename for r in caplog.records} == {"test_tf_logging.py"}


@pytest.mark.parametrize(
    ("setup", "line"),
    [
        ("", "WARNING:minitf:x 3\n"),
        ("import logging; logging.basicConfig(format='mine %(message)s')", "mine x 3\n"),
    ],
)
def test_prints_once_on_stderr_also_where_logging_is_set_up(setup, line):
    program = f"from minitf import tf_logging\n{setup}\ntf_logging.warn('x %d', 3)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("", line)
