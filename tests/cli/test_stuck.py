"""`minitf stuck`: programs that really hang say where, for what, and who should have acted."""

from __future__ import annotations

import json

import pytest

from cli.commands import one_line
from cli.hang_programs import (
    EMPTY_QUEUE,
    FULL_QUEUE,
    NEVER_ENDS,
    NOTHING,
    STOPPED_PS,
    TOO_FEW_WORKERS,
    running,
    stuck_when,
)
from minitf import cli, viz

pytestmark = pytest.mark.cluster

PS, WORKER = "/job:ps/replica:0/task:0", "/job:worker/replica:0/task:0"
CPU = "/device:CPU:0"


def has_steps(found):
    return any(not step.opens for step in found.steps)


def opens(found):
    return any(step.opens for step in found.steps)


def links(step):
    return [(link.kind, link.device.removesuffix(CPU), link.node) for link in step.links]


def test_a_dequeue_from_a_queue_that_nobody_fills(tmp_path, free_ports, capsys):
    with running(tmp_path, EMPTY_QUEUE, free_ports(2)) as cluster:
        address = cluster.spec["ps"][0]
        (step,) = stuck_when(address, has_steps).steps
        assert cli.main(["stuck", "--address", address, "--limit", "0.3"]) == 1
        shown = capsys.readouterr().out
        assert cli.main(["stuck", "--address", cluster.spec["worker"][0], "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["steps"] == []  # below 5 s
    assert (step.task, step.runs, step.beside, step.opens) == (WORKER, ("loss:0",), 0, False)
    receive, dequeue = step.links
    assert (receive.kind, receive.device) == ("receive", WORKER + CPU)
    assert (receive.maker, receive.maker_device) == ("batch", PS + CPU)
    assert (dequeue.kind, dequeue.device, dequeue.node) == ("blocked", PS + CPU, "batch")
    assert dequeue.op == "QueueDequeueV2"
    assert dequeue.line.endswith("train.py:8")
    assert dequeue.resource == ("FIFOQueue", "batches", "has 0 elements; 1 wanted")
    assert "'fill' (" in step.end and "train.py:9) of worker:0 would add to it" in step.end
    assert "no running step is still to run it" in step.end
    assert shown.startswith("worker:0, running loss:0, waits for ")
    assert "waits for 'batch' from ps:0" in shown
    assert all(len(row) <= 80 for row in shown.splitlines())


def test_an_enqueue_into_a_full_queue(tmp_path, free_ports):
    with running(tmp_path, FULL_QUEUE, free_ports(2)) as cluster:
        (step,) = stuck_when(cluster.spec["worker"][0], has_steps).steps
    assert links(step) == [("blocked", PS, "fill")]
    kind, _, state = step.links[0].resource
    assert (kind, state) == ("FIFOQueue", "has no room: 2 of 2 elements")
    assert step.end == "no op in an open session would take from it"


def test_sync_replicas_that_ask_for_more_than_there_are(tmp_path, free_ports, capsys):
    """The chain leads from the workers' token through the chief's queue runner to the gradients."""

    def wait_with(count):
        token = "sync_token_q_Dequeue"

        def ready(found):
            waiting = {s.task for s in found.steps if token in str(s.links)}
            return len(waiting) == count and f"has {count} of 3 gradients" in str(found.steps)

        return ready

    with running(tmp_path, TOO_FEW_WORKERS, free_ports(3), 2) as cluster:
        address = cluster.spec["ps"][0]
        stuck_when(address, wait_with(1))
        cluster.start("worker", 1)  # once the chief is ready: else it would look again after 30 s
        found = stuck_when(address, wait_with(2))
        assert cli.main(["stuck", "--address", address, "--limit", "0.3"]) == 1
        shown = capsys.readouterr().out
    assert len(found.steps) == 3  # a step of each worker, and the chief's queue runner
    mine = next(s for s in found.steps if s.task.endswith("task:1"))
    receive, dequeue, enqueue, take = mine.links
    assert receive.maker == dequeue.node == "sync_token_q_Dequeue"
    assert dequeue.resource == ("FIFOQueue", "sync_token_q", "has 0 elements; 1 wanted")
    assert enqueue.node == "sync_token_q_EnqueueMany"
    assert enqueue.step != dequeue.step
    assert take.op == "ResourceAccumulatorTakeGradient"
    assert take.resource[::2] == ("accumulator", "has 2 of 3 gradients")
    assert "of worker:0 and worker:1 would give it a gradient" in mine.end
    assert shown.count("likewise worker:") == 2


def test_a_ps_that_is_stopped(tmp_path, free_ports):
    def receives(found):  # a slow machine may show an earlier step first
        return any(step.links for step in found.steps)

    with running(tmp_path, STOPPED_PS, free_ports(2)) as cluster:
        (step,) = stuck_when(cluster.spec["worker"][0], receives).steps
        address = cluster.spec["ps"][0]
    assert [link.kind for link in step.links] == ["receive"]
    assert step.links[0].maker_device == PS + CPU
    why = f"does not answer at {address}: its process is stopped, or too busy"
    assert step.end == f"task {PS} {why}"


def test_a_session_that_waits_for_a_task(tmp_path, free_ports, capsys):
    with running(tmp_path, EMPTY_QUEUE, free_ports(2), ps=False) as cluster:
        address = cluster.spec["worker"][0]
        (step,) = stuck_when(address, opens).steps
        assert cli.main(["stuck", "--address", address, "--limit", "0.3"]) == 1
    at = f"does not answer at {cluster.spec['ps'][0]}: nobody listens there"
    assert step.end == f"task {PS} {at}"
    assert "worker:0, opening a session, waits for " in capsys.readouterr().out


def test_an_op_that_does_not_end(tmp_path, free_ports, capsys):
    with running(tmp_path, NEVER_ENDS, free_ports(2)) as cluster:
        address = cluster.spec["ps"][0]
        (step,) = stuck_when(address, has_steps).steps
        assert cli.main(["stuck", "--address", address, "--limit", "0.3"]) == 1
    assert links(step)[1:] == [("compute", WORKER, "slow")]
    assert step.links[0].kind == "receive"
    assert "computes 'slow' (PyFunc)" in capsys.readouterr().out


def test_nothing_waits(tmp_path, free_ports, capsys):
    with running(tmp_path, NOTHING, free_ports(2)) as cluster:
        address = cluster.spec["ps"][0]
        stuck_when(address, lambda found: not found.silent)
        assert cli.main(["stuck", "--address", f"grpc://{address}"]) == 0
    expected = "Nothing waits for more than 5 s: 2 of 2 tasks answered, no step runs\n"
    assert capsys.readouterr().out == expected


def test_wrong_input(free_ports, capsys):
    address = f"127.0.0.1:{free_ports(1)[0]}"
    line = one_line(capsys, "stuck", "--address", address)
    assert line == f"nobody answers at {address}: Connection refused"
    assert "expected HOST:PORT but got 'x'" in one_line(capsys, "stuck", "--address", "x")
    assert "required: --address" in one_line(capsys, "stuck")
    assert "above 0, got '-1'" in one_line(capsys, "stuck", "--address", address, "--limit", "-1")
    with pytest.raises(viz.Unreadable, match="nobody answers"):
        viz.stuck(address)
