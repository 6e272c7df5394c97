"""How alike two pictures are, and the edges in one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitf.convert import constant, to_tensor
from minitf.default import control_dependencies, name_scope
from minitf.operation import Operation, Tensor
from minitf.ops import array, math, nn
from minitf.ops.control_flow import cond
from minitf.ops.debug import Assert
from minitf.ops.depthwise import depthwise_conv2d
from minitf.ops.image.colours import convert_image_dtype
from minitf.ops.pooling import avg_pool
from minitf_runtime.types import float32, int32

# ---- differences


def total_variation(images: Tensor, name: str | None = None) -> Tensor:
    """The sum of the differences between neighbours: of a picture, or of each of a batch."""
    with name_scope(name, "total_variation"):
        rank = images.shape.ndims
        if rank == 3:
            down = images[1:, :, :] - images[:-1, :, :]
            right = images[:, 1:, :] - images[:, :-1, :]
            axis = None
        elif rank == 4:
            down = images[:, 1:, :, :] - images[:, :-1, :, :]
            right = images[:, :, 1:, :] - images[:, :, :-1, :]
            axis = [1, 2, 3]
        else:
            raise ValueError("'images' must be either 3 or 4-dimensional.")
        return math.reduce_sum(math.abs(down), axis=axis) + math.reduce_sum(
            math.abs(right), axis=axis
        )


def image_gradients(image: Tensor) -> tuple[Tensor, Tensor]:
    """The differences to the next row and to the next column; 0 in the last ones."""
    if image.shape.ndims != 4:
        raise ValueError(
            "image_gradients expects a 4D tensor [batch_size, h, w, d], not %s.", image.shape
        )
    shape = array.shape(image)
    batch, height, width, depth = array.unstack(shape)
    dy = image[:, 1:, :, :] - image[:, :-1, :, :]
    dx = image[:, :, 1:, :] - image[:, :, :-1, :]
    row = array.stack([batch, 1, width, depth])
    dy = array.reshape(array.concat([dy, array.zeros(row, image.dtype)], 1), shape)
    column = array.stack([batch, height, 1, depth])
    dx = array.reshape(array.concat([dx, array.zeros(column, image.dtype)], 2), shape)
    return dy, dx


def sobel_edges(image: Tensor) -> Tensor:
    """[batch, height, width, channels, 2]: how the picture changes downwards and to the right."""
    shape = array.shape(image)
    down = np.array([[-1, -2, -1], [0, 0, 0], [1, 2, 1]])
    kernels = np.stack([down, down.T], axis=-1)[:, :, None]
    filters = array.tile(constant(kernels, image.dtype), [1, 1, shape[-1], 1], name="sobel_filters")
    padded = array.pad(image, [[0, 0], [1, 1], [1, 1], [0, 0]], mode="REFLECT")
    found = depthwise_conv2d(padded, filters, [1, 1, 1, 1], "VALID")
    edges = array.reshape(found, shape=array.concat([shape, [2]], 0))
    edges.set_shape(image.shape.concatenate([2]))
    return edges


# ---- two pictures


def _compare_shapes(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, list[Operation]]:
    """Both shapes, and ops that check them. Raises ValueError for what is known not to fit."""
    first, second = a.shape.with_rank_at_least(3), b.shape.with_rank_at_least(3)
    first[-3:].assert_is_compatible_with(second[-3:])
    if first.ndims is not None and second.ndims is not None:
        for m, n in zip(reversed(first.dims[:-3]), reversed(second.dims[:-3])):
            if not (m == 1 or n == 1 or m.is_compatible_with(n)):
                raise ValueError(f"Two images are not compatible: {first} and {second}")
    shape1, shape2 = array.shape_n([a, b])
    both = [shape1, shape2]
    large = Assert(math.greater_equal(array.size(shape1), 3), both, summarize=10)
    same = math.reduce_all(math.equal(shape1[-3:], shape2[-3:]))
    return shape1, shape2, [large, Assert(same, both, summarize=10)]


def psnr(a: Any, b: Any, max_val: Any, name: str | None = None) -> Tensor:
    """The peak signal-to-noise ratio in dB, of each pair of pictures."""
    with name_scope(name, "PSNR", [a, b]):
        most = convert_image_dtype(math.cast(max_val, a.dtype), float32)
        a, b = convert_image_dtype(a, float32), convert_image_dtype(b, float32)
        error = math.reduce_mean(math.squared_difference(a, b), [-3, -2, -1])
        peak = 20 * math.log(most) / math.log(10.0)
        noise = np.float32(10 / np.log(10)) * math.log(error)
        ratio = math.subtract(peak, noise, name="psnr")
        _, _, checks = _compare_shapes(a, b)
        with control_dependencies(checks):
            return array.identity(ratio)


def ssim(
    img1: Any, img2: Any, max_val: Any, filter_size: int = 11, filter_sigma: float = 1.5,
    k1: float = 0.01, k2: float = 0.03,
) -> Tensor:  # fmt: skip
    """The structural similarity of each pair of pictures."""
    _, _, checks = _compare_shapes(img1, img2)
    with control_dependencies(checks):
        img1 = array.identity(img1)
    most = convert_image_dtype(math.cast(max_val, img1.dtype), float32)
    img1, img2 = convert_image_dtype(img1, float32), convert_image_dtype(img2, float32)
    per_channel, _ = _ssim_per_channel(img1, img2, most, filter_size, filter_sigma, k1, k2)
    return math.reduce_mean(per_channel, [-1])


def _ssim_per_channel(
    a: Tensor, b: Tensor, most: Tensor, filter_size: int, filter_sigma: float, k1: float, k2: float
) -> tuple[Tensor, Tensor]:
    """The similarity, and its part of contrast and structure."""
    size, sigma = constant(filter_size, int32), constant(filter_sigma, a.dtype)
    shapes = array.shape_n([a, b])
    checks = [
        Assert(math.reduce_all(math.greater_equal(shape[-3:-1], size)), [shape, size], summarize=8)
        for shape in shapes
    ]
    with control_dependencies(checks):
        a = array.identity(a)
    kernel = array.tile(_gaussian(size, sigma), multiples=[1, 1, shapes[0][-1], 1])

    def smoothed(x: Tensor) -> Tensor:
        shape = array.shape(x)
        flat = array.reshape(x, shape=array.concat([[-1], shape[-3:]], 0))
        out = depthwise_conv2d(flat, kernel, strides=[1, 1, 1, 1], padding="VALID")
        return array.reshape(out, array.concat([shape[:-3], array.shape(out)[1:]], 0))

    luminance, contrast = _similarity(a, b, smoothed, most, k1, k2)
    axes = constant([-3, -2], int32)
    return math.reduce_mean(luminance * contrast, axes), math.reduce_mean(contrast, axes)


def _gaussian(size: Tensor, sigma: Tensor) -> Tensor:
    """A filter [size, size, 1, 1] of sum 1."""
    places = math.cast(math.range(size), sigma.dtype)
    places = places - math.cast(size - 1, sigma.dtype) / 2.0
    weights = math.square(places)
    weights = weights * (-0.5 / math.square(sigma))
    rows = array.reshape(weights, shape=[1, -1])
    grid = rows + array.reshape(weights, shape=[-1, 1])
    shares = nn.softmax(array.reshape(grid, shape=[1, -1]))
    return array.reshape(shares, shape=[size, size, 1, 1])


def _similarity(
    x: Tensor, y: Tensor, smoothed: Callable[[Tensor], Tensor], most: Tensor, k1: float, k2: float
) -> tuple[Tensor, Tensor]:
    c1, c2 = (k1 * most) ** 2, (k2 * most) ** 2
    mean_x, mean_y = smoothed(x), smoothed(y)
    product = mean_x * mean_y * 2.0
    squares = math.square(mean_x) + math.square(mean_y)
    luminance = (product + c1) / (squares + c1)
    smooth_product = smoothed(x * y) * 2.0
    smooth_squares = smoothed(math.square(x) + math.square(y))
    c2 = c2 * 1.0  # TF's factor for the bias of small windows
    contrast = (smooth_product - product + c2) / (smooth_squares - squares + c2)
    return luminance, contrast


_WEIGHTS = 0.0448, 0.2856, 0.3001, 0.2363, 0.1333
_HALVE = [1, 2, 2, 1]


def ssim_multiscale(
    img1: Any, img2: Any, max_val: Any, power_factors: Sequence[float] = _WEIGHTS,
    filter_size: int = 11, filter_sigma: float = 1.5, k1: float = 0.01, k2: float = 0.03,
) -> Tensor:  # fmt: skip
    """The structural similarity at several scales, each half of the one before."""
    with name_scope(None, "MS-SSIM", [img1, img2]):
        img1, img2 = to_tensor(img1, name="img1"), to_tensor(img2, name="img2")
        shape1, shape2, checks = _compare_shapes(img1, img2)
        with control_dependencies(checks):
            img1 = array.identity(img1)
        most = convert_image_dtype(math.cast(max_val, img1.dtype), float32)
        images = [convert_image_dtype(x, float32) for x in (img1, img2)]
        shapes = [shape1, shape2]
        heads = [shape[:-3] for shape in shapes]
        tails = [shape[-3:] for shape in shapes]
        divisor = constant(_HALVE[1:], int32)
        contrasts = []
        for k in range(len(power_factors)):
            with name_scope(None, f"Scale{k}", images):
                if k > 0:
                    images, tails = _halved(images, heads, tails, divisor)
                per_channel, contrast = _ssim_per_channel(
                    *images, most, filter_size, filter_sigma, k1, k2
                )
                contrasts.append(nn.relu(contrast))
        contrasts[-1] = nn.relu(per_channel)
        factors = math.pow(array.stack(contrasts, axis=-1), power_factors)
        return math.reduce_mean(math.reduce_prod(factors, [-1]), [-1])


def _halved(
    images: list[Tensor], heads: list[Tensor], tails: list[Tensor], divisor: Tensor
) -> tuple[list[Tensor], list[Tensor]]:
    """Pictures of half the size, and their last three sizes."""
    flat = [array.reshape(x, array.concat([[-1], tail], 0)) for x, tail in zip(images, tails)]
    rest = tails[0] % divisor
    odd = math.reduce_any(math.not_equal(rest, 0))
    padded = cond(odd, lambda: _padded(flat, rest), lambda: flat)
    small = [avg_pool(x, ksize=_HALVE, strides=_HALVE, padding="VALID") for x in padded]
    tails = [shape[1:] for shape in array.shape_n(small)]
    images = [
        array.reshape(x, array.concat([head, tail], 0))
        for x, head, tail in zip(small, heads, tails)
    ]
    return images, tails


def _padded(images: list[Tensor], rest: Tensor) -> list[Tensor]:
    edges = array.pad(array.expand_dims(rest, -1), [[1, 0], [1, 0]])
    return [array.pad(x, edges, mode="SYMMETRIC") for x in images]
