"""The page of a running cluster, served on this machine to whoever knows its address."""

from __future__ import annotations

import json
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from minitf.viz.capture import Captured
from minitf.viz.page import render
from minitf.viz.page.data import model
from minitf.viz.serve_live import Shown, Watch, live, shown
from minitf_runtime.passes.data import Partitioned

HOST = "127.0.0.1"
REQUEST_SECONDS = 10  # what a connection gets to say what it wants
MOST_PAGES = 16  # that are open and still told whether they are true
# Beside the policy in the page itself, which allows its own scripts by their hashes.
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}

Seen = tuple[Captured, Partitioned]


class Site:
    """What is served: the page, read anew each time that it is asked for, and its numbers.

    first: the cluster as it was found; read: as it is now, None if it cannot be read.
    """

    def __init__(self, address: str, first: Seen, read: Callable[[], Seen | None]) -> None:
        self._read = read
        self._address = address
        self._pages: OrderedDict[str, Shown] = OrderedDict()
        self._lock = threading.Lock()
        self._latest = self._rendered(*first)
        self.watch = Watch(addresses(first[0]))

    def page(self) -> bytes:
        """The page of the cluster as it is; as it was last, if it cannot be read now."""
        with self._lock:
            found = self._read()
            if found is not None:
                self._latest = self._rendered(*found)
            return self._latest

    def _rendered(self, captured: Captured, cut: Partitioned) -> bytes:
        number = secrets.token_hex(8)
        self._pages[number] = shown(captured, cut)
        while len(self._pages) > MOST_PAGES:
            self._pages.popitem(last=False)
        job, index = captured.task
        title = f"{job}:{index} · {self._address}"
        return render(model(cut, title) | {"live": number}).encode("utf-8")

    def numbers(self, page: str) -> dict[str, Any] | None:
        """What is counted for a page; None for one that is not known any more."""
        what = self._pages.get(page)
        return what and live(what, self.watch.tasks, self.watch.loads())


def addresses(captured: Captured) -> dict[str, str]:
    """task -> HOST:PORT."""
    cluster = captured.cluster
    assert cluster is not None, "a running cluster tells its tasks"
    return {
        f"/job:{job}/replica:0/task:{i}": cluster.task_address(job, i)
        for job in cluster.jobs
        for i in cluster.task_indices(job)
    }


class PageServer(ThreadingHTTPServer):
    """Listens on 127.0.0.1 alone; `url` is the address with the token. Raises OSError."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, site: Site, port: int = 0) -> None:
        super().__init__((HOST, port), Handler)
        self.site = site
        self.token = secrets.token_urlsafe(24)
        self.hosts = {f"{name}:{self.server_port}" for name in (HOST, "localhost")}

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.server_port}/?token={self.token}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that hangs up in the middle of an answer is no fault."""


class Handler(BaseHTTPRequestHandler):
    """Answers GET of the page and of its numbers, to those who bring the token."""

    server: PageServer
    server_version = "minitf"
    sys_version = ""
    timeout = REQUEST_SECONDS

    def do_GET(self) -> None:
        where = urlsplit(self.path)
        asked = parse_qs(where.query)
        if self.headers.get("Host") not in self.server.hosts:
            self._refuse(HTTPStatus.FORBIDDEN, "This server is known by another name.")
        elif not secrets.compare_digest(_first(asked, "token"), self.server.token.encode()):
            self._refuse(HTTPStatus.FORBIDDEN, "The address lacks its token.")
        elif where.path == "/":
            self._answer(self.server.site.page(), "text/html")
        elif where.path == "/live":
            numbers = self.server.site.numbers(_first(asked, "page").decode())
            self._answer(json.dumps(numbers or {"state": "old"}).encode(), "application/json")
        else:
            self._refuse(HTTPStatus.NOT_FOUND, "There is no such page.")

    def _refuse(self, status: HTTPStatus, text: str) -> None:
        self._answer(f"{text}\n".encode(), "text/plain", status)

    def _answer(self, content: bytes, kind: str, status: HTTPStatus = HTTPStatus.OK) -> None:
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing: the terminal holds the address, and a page asks once a second."""


def _first(asked: dict[str, list[str]], name: str) -> bytes:
    return asked.get(name, [""])[0].encode()
