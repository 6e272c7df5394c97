"""Convolutions by fewer products give what the plain sum gives, and leave NaN in its place."""

import numpy as np
import pytest

from minitf_runtime.ops import conv, windows, winograd

RNG = np.random.default_rng(0)


class Attrs:
    attrs = dict(strides=[1, 1, 1, 1], dilations=[1, 1, 1, 1], padding="SAME", data_format="NHWC")


def _inputs(batch, height, width, window, channels, made, dtype=np.float32):
    x = RNG.normal(size=(batch, height, width, channels)).astype(dtype)
    f = RNG.normal(size=(*window, channels, made)).astype(dtype)
    dy = RNG.normal(size=(batch, height, width, made)).astype(dtype)
    axes = [
        windows.whole(batch),
        windows.axis(height, window[0], 1, 1, "SAME"),
        windows.axis(width, window[1], 1, 1, "SAME"),
        windows.whole(channels),
    ]
    return x, f, dy, axes


def _plain(x, f, axes):
    """The sum as it is defined, in double."""
    patches = windows.patches(np, x.astype(np.float64), axes)
    return np.einsum("nhwijc,ijco->nhwo", patches, f.astype(np.float64))


def _filter_gradient(x, dy, axes):
    patches = windows.patches(np, x.astype(np.float64), axes)
    return np.einsum("nhwijc,nhwo->ijco", patches, dy.astype(np.float64))


@pytest.mark.parametrize("dtype, near", [(np.float32, 2e-5), (np.float64, 1e-13)])
@pytest.mark.parametrize(
    "sizes",
    [
        (9, 12, 16, (5, 5), 32, 32),  # no rest of tiles
        (25, 11, 13, (3, 3), 32, 32),
        (24, 14, 14, (3, 5), 32, 16),
        (40, 14, 15, (2, 4), 32, 32),
    ],
)
def test_the_values_are_those_of_the_plain_sum(sizes, dtype, near):
    x, f, dy, axes = _inputs(*sizes, dtype=dtype)
    assert winograd.pays(axes, f.shape[-1], x.dtype)
    for made, expected in (
        (winograd.convolve(x, f, axes), _plain(x, f, axes)),
        (winograd.filter_gradient(x, dy, axes), _filter_gradient(x, dy, axes)),
    ):
        assert made.dtype == dtype
        assert np.abs(made - expected).max() < near * np.abs(expected).max()


def test_values_that_are_not_finite_stay_where_the_plain_sum_has_them():
    x, f, dy, axes = _inputs(64, 14, 14, (3, 3), 16, 16)
    assert winograd.pays(axes, f.shape[-1], x.dtype)
    x[3, 6, 6, 1] = np.inf
    dy[3, 6, 6, 1] = np.nan
    assert winograd.convolve(x, f, axes) is None
    out = conv.conv(np, x, f, node=Attrs)
    assert np.argwhere(~np.isfinite(out).all(axis=-1)).tolist() == [
        [3, row, column] for row in (5, 6, 7) for column in (5, 6, 7)
    ]
    change = conv.conv_to_filter(np, x, np.array(f.shape), dy, node=Attrs)
    spoilt = ~np.isfinite(change)
    assert spoilt[:, :, 1].all() and spoilt[:, :, :, 1].all()
    assert np.isfinite(np.delete(np.delete(change, 1, axis=2), 1, axis=3)).all()


@pytest.mark.parametrize(
    "sizes, reason",
    [
        ((64, 28, 28, (5, 5), 1, 32), "few channels"),
        ((64, 28, 28, (7, 7), 32, 32), "a large window"),
        ((2, 8, 8, (3, 3), 16, 16), "little work"),
        ((64, 14, 14, (3, 3), 256, 256), "a filter that no cache holds"),
        ((64, 5, 5, (3, 3), 32, 32), "mostly rest of tiles"),
    ],
)
def test_it_is_left_alone_where_it_does_not_pay(sizes, reason):
    _, f, dy, axes = _inputs(*sizes)
    assert not winograd.pays(axes, f.shape[-1], f.dtype), reason


def test_it_can_be_switched_off(monkeypatch):
    x, f, dy, axes = _inputs(64, 14, 14, (3, 3), 16, 16)
    fewer = conv.conv(np, x, f, node=Attrs), conv.conv_to_filter(np, x, f.shape, dy, node=Attrs)
    monkeypatch.setenv(winograd.VARIABLE, "0")
    assert not winograd.pays(axes, f.shape[-1], x.dtype)
    plain = conv.conv(np, x, f, node=Attrs), conv.conv_to_filter(np, x, f.shape, dy, node=Attrs)
    for made, expected in zip(plain, (_plain(x, f, axes), _filter_gradient(x, dy, axes))):
        assert np.abs(made - expected).max() < 2e-6 * np.abs(expected).max()
    assert not any(np.array_equal(a, b) for a, b in zip(fewer, plain))
