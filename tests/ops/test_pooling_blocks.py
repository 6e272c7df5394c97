"""Pooling in blocks of the batch, on threads, gives what pooling of the whole does."""

import numpy as np
import pytest

from minitf_runtime.devices import cpu
from minitf_runtime.ops import pooling

RNG = np.random.default_rng(0)


class Node:
    def __init__(self, window, stride, padding):
        self.attrs = dict(ksize=[1, window, window, 1], strides=[1, stride, stride, 1])
        self.attrs["padding"] = padding


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize(("window", "stride"), [(2, 2), (3, 2), (2, 3)])
@pytest.mark.parametrize("images", [1, 5, 7])
def test_blocks(monkeypatch, images, window, stride, padding):
    x = RNG.integers(-2, 3, (images, 7, 6, 3)).astype("f")
    node = Node(window, stride, padding)
    want = pooling.max_pool(np, x, node=node)
    g = RNG.normal(size=want.shape).astype("f")
    slopes = pooling.max_pool_grad(np, x, want, g, node=node)
    monkeypatch.setattr(cpu, "_limit", 3)
    monkeypatch.setattr(pooling, "BLOCK", 2 * 7 * 6 * 3)
    monkeypatch.setattr(pooling, "WORTH_SHARING", 1)
    np.testing.assert_array_equal(pooling.max_pool(np, x, node=node), want)
    np.testing.assert_array_equal(pooling.max_pool_grad(np, x, want, g, node=node), slopes)
