"""Ops of files and pictures are loaded when they are needed: by name, by a graph, by a task."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest


def printed(program):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize(
    "use",
    [
        "tf.image.rgb_to_hsv([1., 1., 1.])",
        "tf.raw_ops.IdentityReaderV2()",
        "dir(tf.raw_ops)",
        "tf.import_graph_def(tf.GraphDef(node=[dict(name='r', op='IdentityReaderV2')]))",
        "load(['TextLineReaderV2'])",
    ],
)
def test_loaded_when_needed(use):
    program = f"""
        import sys
        import minitf as tf
        from minitf_runtime.ops.registry import OPS, load
        with tf.Session() as session:
            session.run(tf.constant(1) + 1)
        print("IdentityReaderV2" in OPS, "RGBToHSV" in OPS)
        {use}
        print("IdentityReaderV2" in OPS or "RGBToHSV" in OPS)
    """
    assert printed(program) == ["False", "False", "True"]


def test_a_task_loads_what_a_graph_needs(free_ports):
    (port,) = free_ports(1)
    program = f"""
        import subprocess, sys
        import minitf as tf
        serve = "import minitf as tf; s = tf.train.Server({{'a': ['127.0.0.1:{port}']}}); s.join()"
        task = subprocess.Popen([sys.executable, "-c", serve])
        try:
            line = tf.io.decode_csv("1,2", [[0], [0]])
            with tf.Session("grpc://127.0.0.1:{port}") as session:
                print(*session.run(line))
        finally:
            task.kill()
    """
    assert printed(program) == ["1", "2"]
