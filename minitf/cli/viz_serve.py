"""`minitf viz --address HOST:PORT --serve`: the page of a running cluster, until Ctrl-C."""

from __future__ import annotations

import argparse
import signal
import webbrowser
from collections.abc import Callable
from typing import TYPE_CHECKING

from minitf.cli.errors import UserError
from minitf.cli.viz_readings import FORMS
from minitf_runtime.errors import OpError

if TYPE_CHECKING:
    from minitf.viz.serve import PageServer, Seen, Site

OTHERS = (*FORMS, "diff", "wire", "check", "balance", "trace", "json")


def add_options(parser: argparse.ArgumentParser) -> None:
    serve = "serve the page of a running cluster on this machine, with live numbers"
    parser.add_argument("--serve", action="store_true", help=serve)
    parser.add_argument("--port", metavar="N", help="of --serve (default: one that is free)")


def wanted(args: argparse.Namespace) -> bool:
    """Whether the page is to be served. Raises UserError for options that do not go with it."""
    if not args.serve:
        if args.port is not None:
            raise UserError("--port: goes with --serve")
        return False
    others = [o for o in OTHERS if getattr(args, o, None)]
    if others:
        raise UserError(f"--{others[0]}: not allowed with --serve")
    if not args.address:
        raise UserError("--serve: say with --address HOST:PORT which running cluster to show")
    return True


def run(args: argparse.Namespace, read: Callable[[], Seen]) -> int:
    """Serves until Ctrl-C or SIGTERM, which both end it well."""
    from minitf.viz.serve import Site

    port = read_port(args.port)
    site = Site(args.address, read(), lambda: _or_none(read))
    try:
        with _listen(site, port) as server:
            signal.signal(signal.SIGTERM, signal.default_int_handler)
            print(f"{server.url}\nshows {args.address}; Ctrl-C ends it", flush=True)
            if args.open:
                webbrowser.open(server.url)
            server.serve_forever()
    except KeyboardInterrupt:
        return 0
    finally:
        site.watch.close()
    return 0


def _or_none(read: Callable[[], Seen]) -> Seen | None:
    """What is read; None while it cannot be: the page that was there then stays."""
    try:
        return read()
    except (UserError, OpError):
        return None


def _listen(site: Site, port: int) -> PageServer:
    from minitf.viz.serve import PageServer

    try:
        return PageServer(site, port)
    except OSError as e:
        raise UserError(f"--port: cannot listen on port {port}: {e.strerror}") from None


def read_port(text: str | None) -> int:
    """A port; 0 for any that is free. Raises UserError."""
    if text is not None and not (text.isdecimal() and 0 < int(text) < 65536):
        raise UserError(f"--port: expected a number from 1 to 65535 but got '{text}'")
    return int(text or 0)
