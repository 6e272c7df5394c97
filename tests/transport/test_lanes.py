"""Lanes and their shared memory: order, large messages, slow and lost readers, who reads."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from minitf_runtime.threads import Signal
from minitf_runtime.transport import lane as lane_file
from minitf_runtime.transport.lane import LARGEST_PACKET, Lane
from minitf_runtime.transport.lanes import Lanes
from minitf_runtime.transport.segments import MOST_KEPT

pytestmark = pytest.mark.skipif(not lane_file.possible(), reason="this system has no lanes")
HEADER = b"header"


class Reader:
    """A task that keeps what comes; `work` is what it gives back for each message."""

    def __init__(self, address, keep=bytes, work=None):
        self.got = []
        self.changed = threading.Condition()
        self.keep, self.work = keep, work
        self.address = address
        self.senders = []
        self.lanes = Lanes(address, self.receive)
        self.lanes.start()

    def receive(self, identity, header, frames):
        with self.changed:
            self.got.append((identity, bytes(header), [self.keep(f) for f in frames]))
            self.changed.notify_all()
        return self.work

    def lane(self, identity=b"a"):
        made = self.closed_lane(identity)
        self.lanes.open(made.name)
        return made

    def closed_lane(self, identity=b"a"):
        self.senders.append(Lane(self.address, identity))
        return self.senders[-1]

    def close(self):
        for lane in self.senders:
            lane.close()
        self.lanes.close()

    def wait(self, count):
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.got) >= count, 10)


@pytest.fixture
def reader():
    made = Reader(f"test-{os.getpid()}")
    yield made
    made.close()


def data(nbytes, seed=0):
    return memoryview(np.random.RandomState(seed).bytes(nbytes))


@pytest.mark.parametrize("sizes", [[], [3], [0, 5, 0], [LARGEST_PACKET], [70_001, 1], [3_000_000]])
def test_frames_arrive_whole(reader, sizes):
    frames = [data(n, n) for n in sizes]
    reader.lane().send([HEADER, *frames])
    reader.wait(1)
    assert reader.got == [(b"a", HEADER, [bytes(f) for f in frames])]


def test_messages_arrive_in_order(reader):
    lane = reader.lane()
    for i in range(500):
        lane.send([b"%d" % i, data(100_000 if i % 7 == 0 else 10)])
    reader.wait(500)
    assert [header for _, header, _ in reader.got] == [b"%d" % i for i in range(500)]


def test_a_lane_is_read_only_once_it_is_opened(reader):
    lane = reader.closed_lane()
    lane.send([HEADER])
    time.sleep(0.1)
    assert not reader.got
    reader.lanes.open(lane.name)
    reader.wait(1)


def test_a_lane_that_is_opened_after_the_end_is_not_read():
    """The thread that opens lanes may be at it while another one closes them."""
    reader = Reader(f"test-{os.getpid()}-ends")
    lane = reader.closed_lane()
    lane.send([HEADER])
    deadline = time.monotonic() + 10
    while not reader.lanes._held:
        assert time.monotonic() < deadline
        time.sleep(0.001)
    reader.close()
    reader.lanes.open(lane.name)
    assert not reader.got


def test_a_segment_is_used_again_once_nobody_holds_what_it_carried(reader):
    reader.keep = lambda frame: frame  # views of the shared memory
    lane = reader.lane()
    for i in range(3):
        lane.send([HEADER, data(100_000, i)])
    reader.wait(3)
    held = [frames[0] for _, _, frames in reader.got]
    assert [bytes(f) for f in held] == [bytes(data(100_000, i)) for i in range(3)]
    assert lane._segments._made == 3
    reader.got.clear()
    held.pop()
    for i in range(3, 20):
        lane.send([HEADER, data(100_000, i)])
        reader.wait(1)
        reader.got.clear()
    assert [bytes(f) for f in held] == [bytes(data(100_000, i)) for i in range(2)]
    assert lane._segments._made <= 4


def test_what_is_more_than_a_sender_keeps_is_freed(reader, monkeypatch):
    monkeypatch.setattr("minitf_runtime.transport.segments.MOST_KEPT", 1 << 18)
    assert MOST_KEPT > 1 << 18
    reader.keep = lambda frame: frame
    lane = reader.lane()
    for i in range(10):
        lane.send([HEADER, data(100_000, i)])
    reader.wait(10)
    assert [bytes(f[0]) for *_, f in reader.got] == [bytes(data(100_000, i)) for i in range(10)]
    (connection,) = reader.lanes._connections.values()
    assert len(connection._mappings._mapped) == len(lane._segments._used) == 2


def test_a_sender_never_waits_for_a_reader_that_does_not_read(reader):
    lane = reader.closed_lane()  # not opened: nothing of it is read
    start = time.monotonic()
    for i in range(2000):
        lane.send([b"%d" % i, data(5000)])
    assert time.monotonic() - start < 5
    reader.lanes.open(lane.name)
    reader.wait(2000)
    assert [header for _, header, _ in reader.got] == [b"%d" % i for i in range(2000)]


def test_a_lost_reader_is_told_to_its_sender():
    reader = Reader(f"test-lost-{os.getpid()}")
    lane = reader.lane()
    reader.lanes.close()
    with pytest.raises(OSError):
        for _ in range(100):
            lane.send([HEADER])
    with pytest.raises(OSError):
        Lane(reader.address, b"a")
    lane.close()


def test_a_killed_sender_leaves_nothing(reader):
    script = (
        "import sys, time; from minitf_runtime.transport.lane import Lane\n"
        f"lane = Lane({reader.address!r}, b'b'); print(lane.name.decode(), flush=True)\n"
        "lane.send([b'header', bytes(100_000)]); print('sent', flush=True); time.sleep(60)\n"
    )
    sender = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    name = sender.stdout.readline().strip()
    assert sender.stdout.readline().strip() == b"sent"
    sender.send_signal(signal.SIGKILL)
    sender.wait()
    sender.stdout.close()
    reader.lanes.open(name)
    reader.wait(1)  # what was sent before can still be read
    assert reader.got[0][2] == [bytes(100_000)]
    until = time.monotonic() + 10
    while reader.lanes._connections and time.monotonic() < until:
        time.sleep(0.01)
    assert not reader.lanes._connections


def test_packets_that_are_none_of_ours_end_their_connection_only(reader):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
        s.connect(lane_file._name(reader.address))
        s.send(b"x y")
        reader.lanes.open(b"x y")
        s.send(os.urandom(100))
        s.settimeout(10)
        assert s.recv(1) == b""
    reader.lane().send([HEADER])
    reader.wait(1)


def test_another_user_is_refused(reader, monkeypatch):
    monkeypatch.setattr(os, "getuid", lambda: -1)
    with pytest.raises(PermissionError):
        Lane(reader.address, b"a")


def test_the_waiting_thread_reads_its_message_itself(reader):
    done, threads = Signal(), []
    lane = reader.lane()
    lane.send([b"first"])
    reader.wait(1)

    def receive(identity, header, frames):
        threads.append(threading.get_ident())
        if header == b"last":
            done.set()

    reader.lanes._receive = receive
    threading.Timer(0.2, lane.send, [[b"next"]]).start()
    threading.Timer(0.3, lane.send, [[b"last"]]).start()
    reader.lanes.wait(done, 10)
    assert done.is_set
    assert threads[-1] == threading.get_ident()


def test_a_signal_set_by_another_thread_ends_the_wait_of_the_leader(reader):
    for _ in range(20):
        done = Signal()
        threading.Timer(0.01, done.set).start()
        start = time.monotonic()
        reader.lanes.wait(done, 10)
        assert time.monotonic() - start < 5


def test_a_wait_ends_in_time(reader):
    start = time.monotonic()
    reader.lanes.wait(Signal(), 0.1)
    assert 0.1 <= time.monotonic() - start < 5


def test_many_threads_wait_at_once(reader):
    signals = [Signal() for _ in range(50)]
    reader.lanes._receive = lambda identity, header, frames: signals[int(header)].set()
    waiting = [threading.Thread(target=reader.lanes.wait, args=(s, 20)) for s in signals]
    for thread in waiting:
        thread.start()
    lane = reader.lane()
    for i in reversed(range(50)):
        lane.send([b"%d" % i])
    for thread in waiting:
        thread.join(20)
    assert all(s.is_set for s in signals)


def test_requests_are_read_while_others_are_worked_on(reader):
    going = threading.Semaphore(0)
    go_on = threading.Event()
    reader.work = lambda: [going.release(), go_on.wait(20)]
    lane = reader.lane()
    for _ in range(10):
        lane.send([HEADER])
    for _ in range(10):
        assert going.acquire(timeout=10)
    go_on.set()
    lane.send([HEADER])
    assert going.acquire(timeout=10)


def test_a_request_that_comes_to_a_waiting_thread_does_not_hold_it_up(reader):
    done, go_on = Signal(), threading.Event()
    lane = reader.lane()

    def receive(identity, header, frames):
        if header == b"request":
            return lambda: go_on.wait(20)
        return done.set()

    reader.lanes._receive = receive
    lane.send([b"request"])
    threading.Timer(0.1, lambda: [lane.send([b"request"]), lane.send([b"value"])]).start()
    reader.lanes.wait(done, 10)
    assert done.is_set
    go_on.set()


def test_a_deputy_is_there_after_a_long_wait_of_another_thread(reader):
    """Deputies sleep while another thread leads, and must not sleep on when it leaves."""
    done = Signal()
    threading.Timer(1.5, done.set).start()
    reader.lanes.wait(done, 10)
    reader.lane().send([HEADER])
    reader.wait(1)


def test_an_idle_reader_costs_no_time(reader):
    reader.lane().send([HEADER])
    reader.wait(1)
    time.sleep(1.2)
    before = time.process_time()
    time.sleep(0.5)
    assert time.process_time() - before < 0.05
