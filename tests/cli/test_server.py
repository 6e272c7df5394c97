"""`minitf server`: what it takes, what it refuses, and that garbage does not bring it down."""

from __future__ import annotations

import json
import signal
import socket

import msgpack
import pytest
import zmq

import minitf as tf
from cli.commands import one_line, start
from minitf.cli.errors import UserError
from minitf.cli.server import read_cluster
from minitf_runtime.wire import messages as m
from minitf_runtime.wire.codec import encode

pytestmark = pytest.mark.cluster

TWO = {"ps": ["a:1"], "worker": ["b:1", "b:2"]}


@pytest.mark.parametrize(
    "text", [json.dumps(TWO), "ps=a:1;worker=b:1,b:2", " ps = a:1 ;worker=b:1, b:2;"]
)
def test_forms_of_a_cluster(text):
    assert read_cluster(text) == TWO


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "names no job"),
        ("ps", "expected JOB=ADDR,ADDR but got 'ps'"),
        ("{bad", "not valid JSON"),
        ('{"ps": 3}', "job 'ps' needs a list of HOST:PORT, got 3"),
        ('{"ps": [3]}', "job 'ps' needs a list of HOST:PORT"),
    ],
)
def test_malformed_clusters(text, words):
    with pytest.raises(UserError, match=words):
        read_cluster(text)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ("--job ps", "required: --cluster"),
        ("--cluster ps=127.0.0.1:9 --job ps --task x", "invalid int value: 'x'"),
        ("--cluster ps=127.0.0.1:9 --job worker", 'Job "worker" was not defined'),
        ("--cluster ps=127.0.0.1:9 --job ps --task 3", 'Task 3 was not defined in job "ps"'),
        ("--cluster ps=10.1.2.3:9 --job ps", "'10.1.2.3:9' is not a loopback address"),
        ("--cluster ps=127.0.0.1 --job ps", '"127.0.0.1" as a host-port pair'),
        (
            "--cluster ps=127.0.0.1:0 --job ps",
            '"127.0.0.1:0" as a host-port pair',
        ),
        (
            "--cluster ps=127.0.0.1:70000 --job ps",
            '"127.0.0.1:70000" as a host-port pair',
        ),
    ],
)
def test_wrong_input(capsys, args, words):
    assert words in one_line(capsys, "server", *args.split())


def test_port_in_use(capsys):
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = f"127.0.0.1:{other.getsockname()[1]}"
        line = one_line(capsys, "server", "--cluster", f"ps={address}", "--job", "ps")
    assert f"cannot listen on {address}: Address already in use" in line


def talk_nonsense(address: str) -> None:
    """What a port scanner, a browser and a wrong ZeroMQ program would send."""
    host, _, port = address.partition(":")
    for noise in (b"GET / HTTP/1.1\r\n\r\n", bytes(range(256)) * 8, b"\x00" * 64, b""):
        with socket.create_connection((host, int(port))) as s:
            s.sendall(noise)
    with zmq.Context() as context, context.socket(zmq.DEALER) as dealer:
        dealer.linger = 5000
        dealer.connect(f"tcp://{address}")
        dealer.send(b"junk")
        dealer.send_multipart([b"", b"", b"x" * 100000])
        for value in (None, [], [1, 2], [1, {"RunStep": 1}], [0, msgpack.ExtType(6, b"\x92\xc0")]):
            dealer.send(msgpack.packb(value))
        for message in (
            m.Tensors(None, 3),
            m.CancelStep([], 1),
            m.Reply({}, 2),
            m.RunGraph(1, 2, 3),
        ):
            dealer.send_multipart(encode((1, message)))


def test_garbage_leaves_it_up(free_ports):
    address = f"127.0.0.1:{free_ports(1)[0]}"
    with start("server", "--cluster", f"local={address}", "--job", "local") as server:
        assert server.stdout.readline() == (f"/job:local/replica:0/task:0 listens on {address}\n")
        talk_nonsense(address)
        with tf.Session(f"grpc://{address}") as sess:
            assert sess.run(tf.constant(20) + 22) == 42
        server.send_signal(signal.SIGINT)
        assert server.wait(10) == 0
        lines = server.stderr.read().splitlines()
    assert any("ignores a message" in line for line in lines)
    assert all("ignores a message" in line and len(line) < 300 for line in lines), lines
