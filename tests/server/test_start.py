"""Start order does not matter: what was sent before a server was there is answered."""

from __future__ import annotations

import time

import pytest
import zmq

from minitf_runtime.server import service
from minitf_runtime.wire import messages as m
from minitf_runtime.wire.codec import decode, encode

pytestmark = pytest.mark.cluster


def test_a_request_that_comes_while_the_server_is_made(free_ports, monkeypatch):
    class SlowMaster(service.Master):
        def __init__(self, *args):
            time.sleep(0.3)
            super().__init__(*args)

    monkeypatch.setattr(service, "Master", SlowMaster)
    address = f"127.0.0.1:{free_ports(1)[0]}"
    with zmq.Context() as context, context.socket(zmq.DEALER) as early:
        early.linger = 0
        early.rcvtimeo = 10000
        early.connect(f"tcp://{address}")
        early.send_multipart(encode((7, m.Describe())))
        server = service.Server({"ps": {0: address}}, "ps", 0)
        header, *frames = early.recv_multipart()
        _, reply = decode(header, frames)
        server.stop()
    assert (reply.number, reply.error) == (7, None)
    task = "/job:ps/replica:0/task:0"
    assert list(reply.value) == [f"{task}/device:CPU:0", f"{task}/device:XLA_CPU:0"]
