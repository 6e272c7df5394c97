"""The page of a running cluster: who gets it, and that its numbers are those of the cluster."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import threading
from contextlib import contextmanager
from urllib.parse import urlsplit

import numpy as np
import pytest

import minitf as tf
from cli.commands import EXAMPLES, one_line, start
from minitf.viz.live import read_cluster
from minitf.viz.page import render
from minitf.viz.page.data import model
from minitf.viz.rows import edge_rows
from minitf.viz.serve import MOST_PAGES, PageServer, Site
from minitf.viz.serve_live import Shown, live
from minitf.viz.source import step_asked
from minitf_runtime.plan.counts import BLOCKED, Counts
from minitf_runtime.server.view import Load, SessionLoad
from viz.page_steps import hostile_step

pytestmark = pytest.mark.cluster
WORKER = "/job:worker/replica:0/task:0"
PS = "/job:ps/replica:0/task:0"


class StillSite:
    """A site whose page and numbers are given."""

    def __init__(self, numbers=None):
        self.content = render(model(hostile_step(), "still") | {"live": "1"}).encode()
        self.given = numbers or {"state": "gone"}

    def page(self):
        return self.content

    def numbers(self, page):
        return self.given if page == "1" else None


@contextmanager
def serving(site):
    with PageServer(site) as server:
        thread = threading.Thread(target=server.serve_forever, args=[0.02])
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def still():
    with serving(StillSite()) as server:
        yield server


def ask(server, path, method="GET", **headers):
    """Status, headers and text of an answer."""
    line = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    line.request(method, path, headers=headers)
    answer = line.getresponse()
    found = answer.status, dict(answer.getheaders()), answer.read().decode()
    line.close()
    return found


# ---- who gets it


def test_the_address_holds_the_token(still):
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{32}", still.url)
    status, headers, text = ask(still, f"/?token={still.token}")
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert "<title>still · minitf</title>" in text


def test_each_server_has_its_own_token(still):
    with PageServer(StillSite()) as other:
        assert other.token != still.token


@pytest.mark.parametrize("path", ["/", "/live", "/live?page=1", "/style.css"])
@pytest.mark.parametrize("token", ["", "token=", "token=wrong", "token=%ff%00", "Token={}"])
def test_no_answer_without_the_token(still, path, token):
    joined = path + ("&" if "?" in path else "?") + token.format(still.token)
    status, _, text = ask(still, joined)
    assert (status, text) == (403, "The address lacks its token.\n")


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{}", "127.0.0.1", "127.0.0.1:1"])
def test_no_answer_under_another_name(still, host):
    """A name that a stranger's page lets point to this machine."""
    host = host.format(still.server_port)
    status, _, text = ask(still, f"/?token={still.token}", Host=host)
    assert (status, text) == (403, "This server is known by another name.\n")


def test_localhost_is_no_other_name(still):
    host = f"localhost:{still.server_port}"
    assert ask(still, f"/?token={still.token}", Host=host)[0] == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "HEAD", "DELETE", "OPTIONS"])
def test_only_get(still, method):
    assert ask(still, f"/?token={still.token}", method)[0] == 501


def test_nothing_else_is_there(still):
    assert ask(still, f"/etc/passwd?token={still.token}")[0] == 404
    assert ask(still, f"//127.0.0.1/../live.js?token={still.token}")[0] == 404


def test_what_is_answered_is_not_kept_nor_framed(still):
    for path in ("/", "/live"):
        _, headers, _ = ask(still, f"{path}?token={still.token}")
        assert headers["Cache-Control"] == "no-store"
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"


def test_only_this_page_may_ask_its_server(still):
    _, _, text = ask(still, f"/?token={still.token}")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert policy.endswith("; connect-src 'self'")
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert "connect-src" not in render(model(hostile_step(), "a file"))


def test_it_listens_on_this_machine_alone(still):
    assert still.server_address[0] == "127.0.0.1"


def test_garbage_and_silence_do_no_harm(still, capfd):
    for content in (b"\0\xff" * 100, b"GET", b"GET / HTTP/9.9\r\n\r\n", b"GET  \r\n\r\n", b""):
        with socket.create_connection(("127.0.0.1", still.server_port)) as line:
            line.sendall(content)
    assert ask(still, f"/?token={still.token}")[0] == 200
    assert capfd.readouterr() == ("", "")


# ---- the numbers


def load(task, sessions=(), **counts):
    return Load(task, 7.0, sessions, counts)


SHOWN = Shown(WORKER, "h", 5, ("w/_1", "b/_3"))


def test_numbers_are_those_of_the_session_shown():
    mine = Counts(3, 1, 2.0, {"w/_1": 40}, {"w/_1": 0.5, BLOCKED: 0.25}, {"w/_1": 0.1})
    other = Counts(9, 0, 4.0, {"w/_1": 1000}, {"w/_1": 1.0}, {"x/_9": 3.0})
    at_ps = Counts(3, 0, 1.0, {"b/_3": 8})
    sessions = [SessionLoad("h", 5, 3, 1, 1), SessionLoad("o" * 16, 9, 9, 0, 0)]
    loads = {WORKER: load(WORKER, sessions, h=mine, o=other), PS: load(PS, h=at_ps)}
    found = live(SHOWN, [PS, WORKER, "/job:worker/replica:0/task:1"], loads)
    assert json.loads(json.dumps(found)) == found
    assert found["state"] == "up"
    assert found["bytes"] == [40, 8]
    assert found["waited"] == [0.5, 0.0]
    assert found["sessions"] == [
        dict(id="h", task="worker:0", shown=True, steps=3, failed=1, running=1),
        dict(id="oooooooo", task="worker:0", shown=False, steps=9, failed=0, running=0),
    ]
    ps, worker, gone = found["tasks"]
    assert gone == dict(name="worker:1", up=False)
    assert ps["longest"] is None
    assert worker == dict(
        name="worker:0",
        up=True,
        now=7.0,
        steps=12,
        running=1,
        seconds=6.0,
        waited=1.75,
        longest={"seconds": 3.0, "for": "other"},
    )


@pytest.mark.parametrize(
    ("waiting", "told"), [({"b/_3": 2.0, "w/_1": 1.0}, 1), ({BLOCKED: 2.0}, "blocked"), ({}, None)]
)
def test_the_longest_wait(waiting, told):
    loads = {WORKER: load(WORKER, h=Counts(waiting=waiting))}
    (task,) = live(SHOWN, [WORKER], loads)["tasks"]
    assert task["longest"] == (told if told is None else {"seconds": 2.0, "for": told})


@pytest.mark.parametrize(
    ("loads", "state"),
    [
        ({}, "gone"),
        ({PS: load(PS)}, "gone"),
        ({WORKER: load(WORKER)}, "ended"),
        ({WORKER: load(WORKER, [SessionLoad("h", 6, 0, 0, 0)])}, "changed"),
        ({WORKER: load(WORKER, [SessionLoad("h", 5, 0, 0, 0)])}, "up"),
    ],
)
def test_states(loads, state):
    assert live(SHOWN, [], loads)["state"] == state


# ---- a real cluster


@pytest.fixture(scope="module")
def cluster():
    """A ps and a worker, in this process."""
    sockets = [socket.socket() for _ in range(2)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    ps, worker = (f"localhost:{port}" for port in ports)
    spec = tf.train.ClusterSpec({"ps": [ps], "worker": [worker]})
    servers = [tf.train.Server(spec, job, 0) for job in ("ps", "worker")]
    return f"127.0.0.1:{ports[1]}", servers[1].target


def build():
    with tf.device(tf.train.replica_device_setter(1, worker_device="/job:worker/task:0")):
        x = tf.placeholder(tf.float32, [2, 3], name="x")
        w = tf.get_variable("w", [3, 4], initializer=tf.zeros_initializer())
        loss = tf.reduce_sum(tf.square(tf.matmul(x, w) - 1.0))
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        fails = tf.check_numerics(x, "not a number")
    return x, train, fails


def read(address):
    captured = read_cluster(address, None)
    return captured, step_asked(captured)


@contextmanager
def site_of(address):
    site = Site(address, read(address), lambda: read(address))
    try:
        yield site
    finally:
        site.watch.close()


def number_of(page: bytes) -> str:
    return re.search(r'"live": "(\w+)"', page.decode())[1]


def test_numbers_of_a_real_cluster(cluster):
    address, target = cluster
    x, train, fails = build()
    feed = {x: np.ones((2, 3), "f")}
    with tf.Session(target) as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(7):
            sess.run(train, feed)
        with site_of(address) as site:
            page = number_of(site.page())
            found = site.numbers(page)
            (session,) = found["sessions"]
            assert session["steps"] == 8
            assert (session["failed"], session["running"]) == (0, 0)
            rows = edge_rows(site._read()[1])
            assert [r.bytes * 7 for r in rows] == found["bytes"]
            assert sum(found["bytes"]) == 7 * (48 + 48 + 4)
            assert found["state"] == "up"
            assert [t["steps"] for t in found["tasks"]] == [8, 7]
            assert all(0 <= t["waited"] <= t["seconds"] for t in found["tasks"])
            with pytest.raises(tf.errors.InvalidArgumentError):
                sess.run(fails, {x: np.full((2, 3), np.nan, "f")})
            sess.run(train, feed)
            site.watch._asked = float("-inf")
            found = site.numbers(page)
            (session,) = found["sessions"]
            assert (session["steps"], session["failed"]) == (9, 1)
            assert [r.bytes * 8 for r in rows] == found["bytes"]


def test_a_graph_that_grows_and_a_session_that_ends(cluster):
    address, target = cluster
    a = tf.constant(1.0, name="a")
    with tf.Session(target) as sess:
        sess.run(a)
        with site_of(address) as site:
            page = number_of(site.page())
            assert site.numbers(page)["state"] == "up"
            sess.run(tf.constant(2.0, name="b"))
            site.watch._asked = float("-inf")
            assert site.numbers(page)["state"] == "changed"
            again = number_of(site.page())
            assert site.numbers(again)["state"] == "up"
            sess.close()
            site.watch._asked = float("-inf")
            assert site.numbers(again)["state"] == "ended"


def test_pages_are_forgotten(cluster):
    address, target = cluster
    with tf.Session(target) as sess:
        sess.run(tf.constant(1.0))
        with site_of(address) as site:
            first = number_of(site.page())
            for _ in range(MOST_PAGES):
                site.page()
            assert site.numbers(first) is None
            assert site.numbers("no such page") is None


def test_a_step_that_never_ran_has_no_numbers_of_transfers(cluster):
    address, target = cluster
    x, train, _ = build()
    with tf.Session(target) as sess:
        sess.run(tf.global_variables_initializer())
        captured = read_cluster(address, None)
        first = captured, step_asked(captured, [train.name])
        site = Site(address, first, lambda: None)
        found = site.numbers(number_of(site.page()))
        site.watch.close()
        assert found["bytes"] == []
        assert found["sessions"][0]["steps"] == 1


# ---- the command


def test_wrong_use_is_one_line(capsys, free_ports):
    who = EXAMPLES / "who_applies.py"
    assert one_line(capsys, "viz", "--serve", who).startswith("--serve: say with --address")
    assert one_line(capsys, "viz", "--port", 80, who) == "--port: goes with --serve"
    dead = f"127.0.0.1:{free_ports(1)[0]}"
    serve = ("viz", "--address", dead, "--serve")
    assert one_line(capsys, *serve) == f"nobody answers at {dead}: Connection refused"
    assert one_line(capsys, *serve, "--port", "x").startswith("--port: expected a number")
    assert one_line(capsys, *serve, "--port", 70000).startswith("--port: expected a number")
    assert one_line(capsys, *serve, "--check") == "--check: not allowed with --serve"
    assert one_line(capsys, *serve, "--json") == "--json: not allowed with --serve"


def test_a_port_that_is_taken(cluster, capsys):
    address, target = cluster
    with tf.Session(target) as sess, socket.socket() as taken:
        sess.run(tf.constant(1.0))
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = one_line(capsys, "viz", "--address", address, "--serve", "--port", port)
    assert said == f"--port: cannot listen on port {port}: Address already in use"


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_the_command_ends_well(cluster, free_ports, end):
    address, target = cluster
    (port,) = free_ports(1)
    with tf.Session(target) as sess:
        sess.run(tf.constant(1.0))
        with start("viz", "--address", address, "--serve", "--port", port) as command:
            url = command.stdout.readline().strip()
            assert urlsplit(url).port == port
            assert command.stdout.readline() == f"shows {address}; Ctrl-C ends it\n"
            line = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
            line.request("GET", url.partition(str(port))[2])
            assert line.getresponse().read().startswith(b"<!doctype html>")
            line.close()
            command.send_signal(end)
            assert command.communicate(timeout=20) == ("", "")
            assert command.returncode == 0
