"""BLAS threads: tasks of one machine share its cores."""

from __future__ import annotations

import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from minitf_runtime.errors import InvalidArgumentError
from minitf_runtime.server import blas
from minitf_runtime.server.service import Server

HERE = ["127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"]


@pytest.fixture(autouse=True)
def eight_cores(monkeypatch):
    monkeypatch.delenv(blas.VARIABLE, raising=False)
    monkeypatch.setattr(blas, "_cores", lambda: 8)


def threads() -> set[int]:
    libraries = ThreadpoolController().select(user_api="blas").lib_controllers
    assert libraries, "NumPy's own"
    return {library.num_threads for library in libraries}


@pytest.mark.parametrize(
    ("own", "addresses", "cores"),
    [
        (HERE[0], HERE, 2),
        (HERE[0], [*HERE, "10.0.0.1:1", "10.0.0.2:1"], 2),
        ("10.0.0.1:1", [*HERE, "10.0.0.1:1"], 8),
        (HERE[0], [f"127.0.0.1:{i}" for i in range(1, 20)], 1),
    ],
)
def test_share(own, addresses, cores):
    assert blas.share(own, addresses) == cores


def test_the_share_is_the_bound():
    with threadpool_limits(4, user_api="blas"):
        assert blas.bound_threads(HERE[0], HERE) == 2
        assert threads() == {2}


def test_a_lower_bound_of_the_user_stays():
    with threadpool_limits(1, user_api="blas"):
        blas.bound_threads(HERE[0], HERE)
        assert threads() == {1}


def test_environment_wins(monkeypatch):
    monkeypatch.setenv(blas.VARIABLE, "3")
    with threadpool_limits(1, user_api="blas"):
        assert blas.bound_threads(HERE[0], HERE) == 3
        assert threads() == {3}


@pytest.mark.parametrize("text", ["0", "-1", "many", "1.5"])
def test_malformed_environment(monkeypatch, text):
    monkeypatch.setenv(blas.VARIABLE, text)
    with pytest.raises(InvalidArgumentError, match=f"MINITF_BLAS_THREADS .* got '{text}'"):
        blas.bound_threads(HERE[0], HERE)


@pytest.mark.cluster
def test_a_server_bounds_its_process(free_ports):
    addresses = {i: f"127.0.0.1:{port}" for i, port in enumerate(free_ports(8))}
    with threadpool_limits(2, user_api="blas"):
        server = Server({"worker": addresses}, "worker", 0)
        server.stop()
        assert threads() == {1}
