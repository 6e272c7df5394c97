"""Endpoint: one bound address per process, over ZeroMQ. The only file that names zmq.

All traffic from A to B leaves by A's DEALER to B and arrives at B's ROUTER, so any thread may send
(under the
peer's lock) while one thread receives. A client that has no address of its own gets its replies by
the ROUTER.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import zmq
from zmq.utils.monitor import parse_monitor_message

from minitf_runtime.errors import InvalidArgumentError, UnknownError
from minitf_runtime.threads import Signal, Threads
from minitf_runtime.transport import lane
from minitf_runtime.transport.lane import Lane
from minitf_runtime.transport.lanes import Lanes

HEARTBEAT_MS = 2000
ZERO_COPY_BYTES = 65536
LOOPBACK = ("127.0.0.1", "localhost", "::1", "[::1]")
_WAKE = b"\x00wake"
_LANE = b"\x00lane "  # in place of a header: what follows comes by the lane of that name

Take = Callable[[bytes, bytes, Sequence[Any]], None]  # (identity, header, frames)
Receive = Callable[[bytes, bytes, Sequence[Any]], Callable[[], None] | None]


def is_loopback(address: str) -> bool:
    return address.rpartition(":")[0] in LOOPBACK


def tcp(address: str) -> str:
    host, _, port = address.rpartition(":")
    return f"tcp://{'127.0.0.1' if host == 'localhost' else host}:{port}"


def _checked(address: str, insecure: bool) -> str:
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        message = f'Could not interpret "{address}" as a host-port pair'
        raise InvalidArgumentError(None, None, f"{message}: expected HOST:PORT")
    if not insecure and not is_loopback(address):
        raise InvalidArgumentError(
            None,
            None,
            f"'{address}' is not a loopback address, and messages are not encrypted: anybody who "
            "reaches the port could run graphs. Set MINITF_INSECURE=1 on a network you trust.",
        )
    return address


class Peer:
    """The sending side to one address. `up` tells whether a connection stands now."""

    def __init__(self, context: zmq.Context[Any], address: str, identity: bytes) -> None:
        self.address = address
        self.up = False
        self.since = time.time()
        self._lane: Lane | None = None
        self._identity = identity
        self.lock = threading.Lock()
        self.socket = context.socket(zmq.DEALER)
        _options(self.socket)
        self.socket.setsockopt(zmq.IDENTITY, identity)
        self.monitor = self.socket.get_monitor_socket(
            zmq.EVENT_HANDSHAKE_SUCCEEDED | zmq.EVENT_DISCONNECTED
        )
        self.socket.connect(tcp(address))

    def connected(self, up: bool) -> None:
        """ZeroMQ tells of a connection, or of its end; a lane stands as long as it does."""
        self.up = up
        self.since = time.time()
        with self.lock:
            self._drop_lane()
            if up and lane.possible() and is_loopback(self.address):
                with suppress(OSError):  # the other side has none
                    self._lane = Lane(self.address, self._identity)
                    self.socket.send(_LANE + self._lane.name)

    def send(self, frames: Sequence[Any]) -> None:
        with self.lock:
            if self._lane is not None:
                try:
                    return self._lane.send(frames)
                except OSError:
                    self._drop_lane()
            last = len(frames) - 1
            for i, frame in enumerate(frames):
                large = len(frame) >= ZERO_COPY_BYTES
                self.socket.send(frame, zmq.SNDMORE if i < last else 0, copy=not large)

    def _drop_lane(self) -> None:
        if self._lane is not None:
            self._lane.close()
            self._lane = None


def _options(socket: Any) -> None:
    socket.setsockopt(zmq.LINGER, 0)
    socket.setsockopt(zmq.SNDHWM, 0)
    socket.setsockopt(zmq.RCVHWM, 0)
    socket.setsockopt(zmq.HEARTBEAT_IVL, HEARTBEAT_MS)
    socket.setsockopt(zmq.HEARTBEAT_TIMEOUT, 3 * HEARTBEAT_MS)
    socket.setsockopt(zmq.RECONNECT_IVL, 50)
    socket.setsockopt(zmq.RECONNECT_IVL_MAX, 1000)


class Endpoint:
    """Listens at `address` and sends to peers; once started, one thread at a time receives.

    `receive` gives back work that may wait, if there is any: the thread that has received a message
    goes on with it, and another one receives from then on. So a request changes no thread.
    """

    def __init__(
        self,
        address: str,
        receive: Receive,
        lost: Callable[[str], None],
        insecure: bool = False,
    ) -> None:
        self.address = _checked(address, insecure)
        self._insecure = insecure
        self._receive = receive
        self._lost = lost
        self._context: zmq.Context[Any] = zmq.Context()
        self._router = self._context.socket(zmq.ROUTER)
        _options(self._router)
        try:
            self._router.bind(tcp(address))
        except zmq.ZMQError as e:
            self._context.destroy(0)
            raise UnknownError(
                None, None, f"Could not start server: cannot listen on {address}: {e}"
            ) from None
        self._router.bind(f"inproc://endpoint-{id(self)}")
        self._lanes = self._make_lanes()
        self._identity = address.encode()
        self._peers: dict[str, Peer] = {}
        self._replies: deque[tuple[bytes, Sequence[Any]]] = deque()
        self._lock = threading.Lock()
        self._wake_lock = threading.Lock()
        self._some_peer = threading.Event()
        self._waker = self._context.socket(zmq.DEALER)
        self._waker.setsockopt(zmq.IDENTITY, _WAKE)
        self._waker.connect(f"inproc://endpoint-{id(self)}")
        self._closed = False
        self._ended = threading.Event()
        self._ended.set()
        self._threads = Threads("minitf-recv")
        self._watcher = threading.Thread(target=self._watch, name="minitf-watch", daemon=True)

    def _make_lanes(self) -> Lanes | None:
        if lane.possible() and is_loopback(self.address):
            with suppress(OSError):  # somebody else has the name
                return Lanes(self.address, self._receive)
        return None

    def _open_lane(self, name: bytes) -> None:
        if self._lanes is not None:
            self._lanes.open(name)

    def start(self) -> None:
        """Begins to receive; what has come before is kept until then."""
        if self._lanes is not None:
            self._lanes.start()
        self._ended.clear()
        self._threads.start(self._loop)
        self._watcher.start()

    def peer(self, address: str) -> Peer:
        with self._lock:
            found = self._peers.get(address)
            if found is None:
                _checked(address, self._insecure)
                found = self._peers[address] = Peer(self._context, address, self._identity)
                self._some_peer.set()
            return found

    def send(self, address: str, frames: Sequence[Any]) -> None:
        """Sends to a peer; kept until it is there."""
        self.peer(address).send(frames)

    def reply(self, identity: bytes, frames: Sequence[Any]) -> None:
        """Sends back to a client that has no address of its own."""
        self._replies.append((identity, frames))
        self._wake()

    def wait(self, signal: Signal, timeout: float | None = None) -> None:
        """Waits until the signal is set, at most that many seconds."""
        if self._lanes is not None:
            self._lanes.wait(signal, timeout)
        signal.wait(timeout)

    def close(self) -> None:
        """Stops receiving and frees the port."""
        if self._closed:
            return
        self._closed = True
        if self._lanes is not None:
            self._lanes.close()
        self._some_peer.set()
        self._wake()
        self._ended.wait()
        self._watcher.join()
        with self._lock:
            for peer in self._peers.values():
                peer.connected(False)
                with peer.lock:
                    peer.socket.disable_monitor()
                    peer.socket.close(0)
        self._waker.close(0)
        self._context.destroy(0)

    def _wake(self) -> None:
        """Without waiting: a loop that takes nothing more has ended, or has enough to wake it."""
        with self._wake_lock, suppress(zmq.Again):
            self._waker.send(b"", zmq.DONTWAIT)

    def _loop(self) -> None:
        router = self._router
        while not self._closed:
            identity = router.recv()
            header = b""
            frames: list[Any] = []
            if router.getsockopt(zmq.RCVMORE):
                header = router.recv()
            while router.getsockopt(zmq.RCVMORE):
                frames.append(router.recv(copy=False).buffer)
            if header.startswith(_LANE):
                self._open_lane(header.removeprefix(_LANE))
            elif identity != _WAKE:
                work = self._receive(identity, header, frames)
                if work is not None:
                    self._threads.start(self._loop)
                    work()
                    return
            while self._replies:
                to, message = self._replies.popleft()
                router.send_multipart([to, *message])
        router.close(0)
        self._ended.set()

    def _watch(self) -> None:
        """Follows which peers are connected."""
        poller = zmq.Poller()
        known: dict[Any, Peer] = {}
        self._some_peer.wait()  # polling no socket at all would not wait
        while not self._closed:
            with self._lock:
                for peer in self._peers.values():
                    if peer.monitor not in known:
                        known[peer.monitor] = peer
                        poller.register(peer.monitor, zmq.POLLIN)
            for monitor, _ in poller.poll(100):
                event = parse_monitor_message(monitor.recv_multipart())["event"]
                peer = known[monitor]
                was = peer.up
                peer.connected(event == zmq.EVENT_HANDSHAKE_SUCCEEDED)
                if was and not peer.up:
                    self._lost(peer.address)


class Caller:
    """A client's line to one server: requests go out and replies come in on one socket."""

    def __init__(self, address: str, receive: Take, lost: Callable[[str], None]) -> None:
        self.address = address
        self._receive = receive
        self._lost = lost
        self._context: zmq.Context[Any] = zmq.Context()
        self._socket = self._context.socket(zmq.DEALER)
        _options(self._socket)
        self._monitor = self._socket.get_monitor_socket(zmq.EVENT_DISCONNECTED)
        self._socket.connect(tcp(address))
        self._outbox: deque[Sequence[Any]] = deque()
        self._pull = self._context.socket(zmq.PULL)
        self._pull.bind(f"inproc://caller-{id(self)}")
        self._push = self._context.socket(zmq.PUSH)
        self._push.connect(f"inproc://caller-{id(self)}")
        self._lock = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._loop, name="minitf-caller", daemon=True)
        self._thread.start()

    def send(self, frames: Sequence[Any]) -> None:
        self._outbox.append(frames)
        with self._lock:
            self._push.send(b"")

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        with self._lock:
            self._push.send(b"")
        self._thread.join()
        self._socket.disable_monitor()
        self._context.destroy(0)

    def _loop(self) -> None:
        poller = zmq.Poller()
        for socket in (self._socket, self._pull, self._monitor):
            poller.register(socket, zmq.POLLIN)
        while not self._closed:
            ready = dict(poller.poll())
            if self._pull in ready:
                self._pull.recv()
                while self._outbox:
                    self._socket.send_multipart(self._outbox.popleft())
            if self._socket in ready:
                parts = self._socket.recv_multipart()
                self._receive(b"", parts[0], parts[1:])
            if self._monitor in ready:
                self._monitor.recv_multipart()
                self._lost(self.address)
