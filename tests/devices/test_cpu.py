"""Work shared among threads: every element once, errors kept, BLAS as it was."""

import os
import subprocess
import sys
import threading
from contextlib import nullcontext

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from minitf_runtime.devices import cpu
from minitf_runtime.ops import matmul


@pytest.fixture(autouse=True)
def three_threads(monkeypatch):
    monkeypatch.setattr(cpu, "_limit", 3)


@pytest.mark.parametrize(("size", "step"), [(0, 4), (1, 4), (7, 2), (8, 8), (100, 7), (5, 100)])
def test_every_element_is_in_one_share(size, step):
    seen = np.zeros(size, int)
    cpu.parallel(lambda start, stop: np.add.at(seen, slice(start, stop), 1), size, step)
    assert seen.tolist() == [1] * size


@pytest.mark.parametrize(("start", "stop"), [(0, 0), (3, 4), (2, 9), (0, 100)])
@pytest.mark.parametrize("largest", [1, 4, 7, 1000])
def test_blocks_are_equal_and_cover_the_range(start, stop, largest):
    parts = cpu.blocks(start, stop, largest)
    assert [i for part in parts for i in range(part.start, part.stop)] == list(range(start, stop))
    sizes = {part.stop - part.start for part in parts}
    assert not sizes or (max(sizes) <= largest and max(sizes) - min(sizes) <= 1)
    assert len(parts) == -(-(stop - start) // largest)


def test_an_error_of_any_share_is_raised_after_all_have_ended():
    ended = []

    def work(start, stop):
        if start:
            raise ValueError(f"at {start}")
        ended.append(start)

    with pytest.raises(ValueError, match="at 4"):
        cpu.parallel(work, 12, 4)
    assert ended == [0]


def test_shares_run_at_the_same_time():
    meet = threading.Barrier(3, timeout=10)
    cpu.parallel(lambda start, stop: meet.wait(), 3, 1)


def blas_threads():
    return [info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"]


def test_blas_gets_its_threads_back():
    before = blas_threads()
    with pytest.raises(KeyError), cpu.one_blas_thread():
        with cpu.one_blas_thread():
            assert set(blas_threads()) == {1} and cpu.blas_is_narrow()
        assert set(blas_threads()) == {1}
        raise KeyError
    assert blas_threads() == before and not cpu.blas_is_narrow()


@pytest.mark.parametrize("shape", [(40, 3, 9), (9, 3, 40), (8, 8, 8), (1, 5, 64)])
def test_a_shared_product_is_the_product(monkeypatch, shape):
    monkeypatch.setattr(matmul, "WORTH_SHARING", 1)
    rows, inner, columns = shape
    rng = np.random.RandomState(1)
    left = rng.randn(inner, rows).astype("f").T
    right = rng.randn(inner, columns).astype("f")
    with cpu.one_blas_thread():
        got = matmul.product(np, left, right)
    np.testing.assert_allclose(got, left @ right, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("shape", [(2, 9, 40), (2, 8, 8), (3, 5, 64), (0, 8, 8), (1, 4, 4)])
@pytest.mark.parametrize("narrow", [True, False])
def test_a_product_with_a_transposed_factor_is_the_product(monkeypatch, shape, narrow):
    monkeypatch.setattr(matmul, "WORTH_SHARING", 1)
    rows, inner, columns = shape
    rng = np.random.RandomState(1)
    left = rng.randn(rows, inner).astype("f")
    right = rng.randn(columns, inner).astype("f").T
    with cpu.one_blas_thread() if narrow else nullcontext():
        got = matmul.product(np, left, right)
    assert got.flags.c_contiguous and got.shape == (rows, columns)
    np.testing.assert_allclose(got, left @ right, rtol=1e-5, atol=1e-5)


SPINNING = """
import time
import numpy as np
{before}
import minitf as tf
a = np.ones((300, 300), "f")
with tf.Session() as sess:
    sess.run(tf.constant(1.0))
    np.dot(a, a)
    start = time.process_time()
    time.sleep(0.1)
    print(time.process_time() - start)
"""


def cpu_seconds_of_idle_blas(before="", **env):
    ran = subprocess.run(
        [sys.executable, "-c", SPINNING.format(before=before)],
        env={**os.environ, **env}, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    return float(ran.stdout)


@pytest.mark.skipif(blas_threads() < [2], reason="BLAS has one thread here")
@pytest.mark.skipif(threadpool_info()[0]["internal_api"] != "openblas", reason="not OpenBLAS")
def test_idle_threads_of_blas_rest_unless_others_multiply_or_the_user_says_otherwise():
    assert cpu_seconds_of_idle_blas() < 0.01
    assert cpu_seconds_of_idle_blas(OPENBLAS_THREAD_TIMEOUT="28") > 0.02
    waiting = "import threading; threading.Thread(target=time.sleep, args=[9], daemon=True).start()"
    assert cpu_seconds_of_idle_blas(waiting) > 0.02
