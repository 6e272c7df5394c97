"""The endpoint: order, replies, lost peers, garbage on the port."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from minitf_runtime.errors import DataLossError, InvalidArgumentError, UnknownError
from minitf_runtime.transport.zeromq import Caller, Endpoint
from minitf_runtime.wire import messages as m
from minitf_runtime.wire.codec import decode, encode


class Box:
    """An endpoint that keeps what comes in."""

    def __init__(self, address):
        self.got, self.lost = [], []
        self.changed = threading.Condition()
        self.endpoint = Endpoint(address, self.receive, self.gone)
        self.endpoint.start()

    def receive(self, identity, header, frames):
        with self.changed:
            self.got.append((identity, header, frames))
            self.changed.notify_all()

    def gone(self, address):
        with self.changed:
            self.lost.append(address)
            self.changed.notify_all()

    def wait(self, ready, timeout=10):
        with self.changed:
            assert self.changed.wait_for(ready, timeout)


@pytest.fixture
def boxes(free_ports):
    made = [Box(f"127.0.0.1:{p}") for p in free_ports(2)]
    yield made
    for box in made:
        box.endpoint.close()


def test_messages_arrive_in_order_and_name_their_sender(boxes):
    a, b = boxes
    for i in range(200):
        a.endpoint.send(b.endpoint.address, encode((0, m.CleanupStep(i))))
    b.wait(lambda: len(b.got) == 200)
    assert [decode(h, f)[1].step for _, h, f in b.got] == list(range(200))
    assert {i for i, _, _ in b.got} == {a.endpoint.address.encode()}


def test_a_large_tensor_arrives_whole(boxes):
    a, b = boxes
    array = np.arange(3_000_000, dtype="i4")
    a.endpoint.send(b.endpoint.address, encode((0, m.Tensors(1, {0: array}))))
    b.wait(lambda: b.got)
    _, header, frames = b.got[0]
    np.testing.assert_array_equal(decode(header, frames)[1].values[0], array)


def test_sending_before_the_peer_is_there(free_ports):
    first, second = (f"127.0.0.1:{p}" for p in free_ports(2))
    a = Box(first)
    a.endpoint.send(second, encode((0, m.CleanupStep(1))))
    time.sleep(0.2)
    b = Box(second)
    b.wait(lambda: b.got)
    a.endpoint.close()
    b.endpoint.close()


def test_a_client_without_address_gets_its_reply(boxes):
    a = boxes[0]
    got = []
    arrived = threading.Event()
    caller = Caller(a.endpoint.address, lambda *x: (got.append(x), arrived.set()), lambda x: None)
    caller.send(encode((5, m.Describe())))
    a.wait(lambda: a.got)
    a.endpoint.reply(a.got[0][0], encode((0, m.Reply(5, "hello"))))
    assert arrived.wait(10)
    assert decode(got[0][1], got[0][2])[1].value == "hello"
    caller.close()


def test_a_killed_peer_is_noticed(free_ports):
    first, second = (f"127.0.0.1:{p}" for p in free_ports(2))
    a = Box(first)
    code = (
        "import time; from minitf_runtime.transport.zeromq import Endpoint\n"
        f"Endpoint({second!r}, lambda *x: print('got', flush=True), lambda a: None).start()\n"
        "time.sleep(60)"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    try:
        a.endpoint.send(second, encode((0, m.CleanupStep(1))))
        assert child.stdout.readline() == b"got\n"
        os.kill(child.pid, signal.SIGKILL)
        a.wait(lambda: a.lost == [second])
    finally:
        child.kill()
        child.wait()
        child.stdout.close()
        a.endpoint.close()


def test_garbage_on_the_port_does_no_harm(boxes):
    a, b = boxes
    host, port = b.endpoint.address.split(":")
    with socket.create_connection((host, int(port))) as raw:
        raw.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" + os.urandom(4096))
    a.endpoint.send(b.endpoint.address, encode((0, m.CleanupStep(3))))
    b.wait(lambda: any(readable(h, f) for _, h, f in b.got))


def readable(header, frames):
    """Whether this is the message sent; old ZMTP lets raw bytes through, decode refuses them."""
    try:
        return decode(header, frames) == [0, m.CleanupStep(3)]
    except DataLossError:
        return False


def test_port_in_use(boxes):
    address = boxes[0].endpoint.address
    with pytest.raises(UnknownError, match="Could not start server"):
        Endpoint(address, lambda *x: None, lambda a: None)


def test_other_addresses_than_loopback_need_a_word():
    with pytest.raises(InvalidArgumentError, match="not a loopback address"):
        Endpoint("10.0.0.1:2222", lambda *x: None, lambda a: None)
    with pytest.raises(InvalidArgumentError, match="HOST:PORT"):
        Endpoint("localhost", lambda *x: None, lambda a: None)


def test_an_idle_endpoint_costs_no_time(boxes):
    """A server without peers once polled without waiting, and took a whole core."""
    boxes[0].endpoint.send(boxes[1].endpoint.address, encode((0, m.CleanupStep(1))))
    boxes[1].wait(lambda: boxes[1].got)
    before = time.process_time()
    time.sleep(0.5)
    assert time.process_time() - before < 0.1


def test_work_that_waits_holds_up_no_message(free_ports):
    """A thread that has taken a request goes on with it; another one receives."""
    came, done = threading.Event(), threading.Event()

    def receive(identity, header, frames):
        if decode(header, frames)[1].step == 1:
            return lambda: came.wait(10) and done.set()
        came.set()
        return None

    here, there = (f"127.0.0.1:{p}" for p in free_ports(2))
    endpoint = Endpoint(here, receive, lambda a: None)
    endpoint.start()
    other = Box(there)
    try:
        for step in (1, 2):
            other.endpoint.send(here, encode((0, m.CleanupStep(step))))
        assert done.wait(10)
    finally:
        other.endpoint.close()
        endpoint.close()


def test_closing_while_a_message_comes_in(boxes):
    """The loop may have seen that it is to end by then: nothing waits for it to take more."""
    endpoint = boxes[0].endpoint
    endpoint._closed = True
    boxes[1].endpoint.send(endpoint.address, encode((0, m.CleanupStep(1))))
    assert endpoint._ended.wait(10)
    time.sleep(0.2)  # until the other end of the waker is known to be gone
    endpoint.reply(b"gone", encode((0, m.Reply(1))))
    endpoint._closed = False
    endpoint.close()
