"""Saving and summaries when the disk is full or the process is killed: old files stay good."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from functools import cache

import pytest

import minitf as tf
from minitf_runtime.storage.records import read_records

SIZE = 1 << 20  # of the disk that is full


@cache
def small_disk_missing() -> str:
    """Why no file system of a megabyte can be had here, or ''."""
    try:
        probe = ["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"]
        done = subprocess.run(probe, capture_output=True, text=True)
    except FileNotFoundError as e:
        return str(e)
    return done.stderr.strip() if done.returncode else ""


@pytest.fixture
def on_small_disk(tmp_path):
    """Runs a program in a directory that is a disk of one megabyte; gives what it printed."""
    if small_disk_missing():
        pytest.skip(f"cannot mount a small disk: {small_disk_missing()}")

    def run(program):
        mount = f'mount -t tmpfs -o size={SIZE} none "$1" && cd "$1" && exec "$2" -W error -c "$3"'
        command = ["unshare", "-rm", "sh", "-c", mount, "sh", str(tmp_path), sys.executable]
        done = subprocess.run([*command, textwrap.dedent(program)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return run


@pytest.mark.parametrize("sharded", [False, True])
def test_a_full_disk_while_saving(on_small_disk, sharded):
    out = on_small_disk(f"""
        import os
        import minitf as tf
        v = tf.get_variable("v", [80000], initializer=tf.ones_initializer())
        w = tf.get_variable("w", [80000], initializer=tf.ones_initializer())
        saver = tf.train.Saver(sharded={sharded})
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            saver.save(session, os.path.abspath("m"), 1)
            before = sorted(os.listdir("."))
            session.run(v.assign_add(v))
            for _ in range(2):
                try:
                    saver.save(session, os.path.abspath("m"), 2)
                except tf.errors.ResourceExhaustedError as e:
                    print(e.message.splitlines()[0])
            print(sorted(os.listdir(".")) == before)
            print(os.path.basename(tf.train.latest_checkpoint(".")))
            saver.restore(session, tf.train.latest_checkpoint("."))
            print(session.run(v)[0])
    """)
    assert len(out) == 5 and out[2:] == ["True", "m-1", "1.0"]
    for line in out[:2]:
        assert "data-00000-of-00001; No space left on device" in line


def test_a_full_disk_while_writing_summaries(on_small_disk):
    out = on_small_disk(f"""
        import os
        import minitf as tf
        from minitf_runtime.storage.records import read_records

        def text(step):
            value = tf.Summary.Value(tag="t", tensor=dict(dtype=7, string_val=[bytes(30000)]))
            writer.add_summary(tf.Summary(value=[value]), step)

        writer = tf.summary.FileWriter("logs")
        try:
            for step in range({SIZE}):
                text(step)
        except tf.errors.ResourceExhaustedError as e:
            print(e.message)
        (name,) = os.listdir("logs")
        def steps():
            return [e.step for e in tf.train.summary_iterator("logs/" + name) if e.summary.value]
        print(steps() == list(range(len(steps()))), 20 < len(steps()) <= step)
        try:
            writer.flush()
        except tf.errors.ResourceExhaustedError:
            print("still full")
        print(name)
        os._exit(0)
    """)
    assert out[0] == f"logs/{out[3]}; No space left on device"
    assert out[1:3] == ["True True", "still full"]


def test_events_that_did_not_fit_come_later(on_small_disk):
    out = on_small_disk(f"""
        import os
        import minitf as tf
        with open("ballast", "wb") as ballast:
            ballast.write(bytes({SIZE} - 8192))
        writer = tf.summary.FileWriter("logs", flush_secs=1000)
        for step in range(20):
            value = tf.Summary.Value(tag="t" * 1000, simple_value=step)
            writer.add_summary(tf.Summary(value=[value]), step)
        try:
            writer.flush()
        except tf.errors.ResourceExhaustedError:
            os.remove("ballast")
        writer.close()
        (name,) = os.listdir("logs")
        print([int(e.step) for e in tf.train.summary_iterator("logs/" + name)][1:])
    """)
    assert out == [str(list(range(20)))]


def test_events_are_written_at_the_end_of_the_process(tmp_path):
    program = """
        import sys
        import minitf as tf
        writer = tf.summary.FileWriter(sys.argv[1])
        for step in range(3):
            writer.add_summary(tf.Summary(), step)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program), str(tmp_path)], check=True)
    (file,) = tmp_path.iterdir()
    assert len(list(read_records(str(file)))) == 4


SAVES = """
    import sys
    import minitf as tf
    v = tf.get_variable("v", [1 << 20], initializer=tf.zeros_initializer())
    more = v.assign_add(tf.ones([1 << 20]))
    saver = tf.train.Saver(max_to_keep=3)
    with tf.Session() as session:
        session.run(v.initializer)
        for step in range(1000):
            saver.save(session, sys.argv[1] + "/m", step, write_meta_graph=False)
            print(step, flush=True)
            session.run(more)
"""


@pytest.mark.parametrize("delay", [0.0, 0.004, 0.012])
def test_a_process_killed_while_it_saves(tmp_path, delay):
    """The latest checkpoint is whole, whenever the process dies."""
    command = [sys.executable, "-c", textwrap.dedent(SAVES), str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for _ in range(4):
            said = process.stdout.readline()
        time.sleep(delay)
        process.kill()
    path = tf.train.latest_checkpoint(str(tmp_path))
    step = int(path.rpartition("-")[2])
    assert step >= int(said)
    value = tf.train.load_variable(path, "v")
    assert value.shape == (1 << 20,) and (value == step).all()


def test_killed_in_the_middle_of_the_write(tmp_path):
    """Not by chance: the process ends between the bytes of the new checkpoint."""
    with tf.Session() as session:
        v = tf.get_variable("v", initializer=[1.0, 2.0])
        session.run(v.initializer)
        path = tf.train.Saver().save(session, str(tmp_path / "m"))
    program = """
        import os
        import signal
        import sys
        import minitf as tf
        from minitf_runtime.storage import files
        v = tf.get_variable("v", initializer=[3.0, 4.0])
        with tf.Session() as session:
            session.run(v.initializer)
            files.os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
            tf.train.Saver().save(session, sys.argv[1])
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program), path])
    assert done.returncode == -9
    assert [f for f in os.listdir(tmp_path) if "tempstate" in f]  # nobody was left to remove it
    assert tf.train.latest_checkpoint(str(tmp_path)) == path
    assert tf.train.load_variable(path, "v").tolist() == [1.0, 2.0]
