"""Colours of pictures: their type, brightness, contrast, hue and spaces."""

from __future__ import annotations

from typing import Any

import numpy as np

import minitf_runtime.ops.image_colour  # noqa: F401  (declares the ops)
from minitf.convert import to_tensor
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops import array, math
from minitf.ops.apply import apply_op
from minitf.ops.group import with_dependencies
from minitf.ops.image.checks import checked, checked_gray, require
from minitf.ops.random import random_uniform
from minitf.ops.raw import passthrough
from minitf.ops.reduction import reduce_std
from minitf_runtime.types import as_dtype, float16, float32, int32

rgb_to_hsv = passthrough("RGBToHSV", "rgb_to_hsv")
hsv_to_rgb = passthrough("HSVToRGB", "hsv_to_rgb")


# ---- types


def convert_image_dtype(
    image: Any, dtype: Any, saturate: bool = False, name: str | None = None
) -> Tensor:
    """In another type: 0 to 1 as floats are 0 to the largest as integers."""
    image, dtype = to_tensor(image, name="image"), as_dtype(dtype)
    if not dtype.is_floating and not dtype.is_integer:
        raise AttributeError("dtype must be either floating point or integer")
    if dtype is image.dtype:
        return array.identity(image, name=name)
    cast = math.saturate_cast if saturate else math.cast
    with name_scope(name, "convert_image", [image]) as name:
        if image.dtype.is_floating:
            if dtype.is_floating:
                return math.cast(image, dtype, name=name)
            with np.errstate(over="ignore"):  # half has no such number: infinity
                scaled = math.multiply(image, dtype.max + 0.5)
            return cast(scaled, dtype, name=name)
        most = image.dtype.max
        if dtype.is_floating:
            return math.multiply(math.cast(image, dtype), 1.0 / most, name=name)
        if most > dtype.max:
            scaled = math.div(image, (most + 1) // (dtype.max + 1))
            return cast(scaled, dtype, name=name)
        return math.multiply(cast(image, dtype), (dtype.max + 1) // (most + 1), name=name)


def _as_floats(image: Tensor) -> Tensor:
    """Pictures as kernels of colours take them."""
    return image if image.dtype in (float16, float32) else convert_image_dtype(image, float32)


# ---- brightness and contrast


def per_image_standardization(image: Any) -> Tensor:
    """With mean 0 and deviation 1, or less for a picture of hardly any contrast."""
    with name_scope(None, "per_image_standardization", [image]) as scope:
        image = checked(image)
        dtype = image.dtype
        image = _as_floats(image)
        count = math.reduce_prod(array.shape(image)[-3:])
        mean = math.reduce_mean(image, axis=[-1, -2, -3], keepdims=True)
        deviation = reduce_std(image, axis=[-1, -2, -3], keepdims=True)
        least = math.rsqrt(math.cast(count, image.dtype))
        deviation = math.maximum(deviation, least)
        image = math.div(image - mean, deviation, name=scope)
        return convert_image_dtype(image, dtype, saturate=True)


def adjust_brightness(image: Any, delta: Any) -> Tensor:
    """Brighter by delta, of which 1 is the whole range."""
    with name_scope(None, "adjust_brightness", [image, delta]) as name:
        image = to_tensor(image, name="image")
        floats = _as_floats(image)
        adjusted = math.add(floats, math.cast(delta, floats.dtype), name=name)
        return convert_image_dtype(adjusted, image.dtype, saturate=True)


def random_brightness(image: Any, max_delta: float, seed: int | None = None) -> Tensor:
    """Brighter or darker by at most max_delta."""
    return adjust_brightness(image, _delta(max_delta, seed))


def _delta(most: float, seed: int | None) -> Tensor:
    if most < 0:
        raise ValueError("max_delta must be non-negative.")
    return random_uniform([], -most, most, seed=seed)


def _factor(lower: float, upper: float, seed: int | None) -> Tensor:
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")
    return random_uniform([], lower, upper, seed=seed)


def adjust_contrast(images: Any, contrast_factor: Any) -> Tensor:
    """Each channel's distance from its mean times a factor."""
    with name_scope(None, "adjust_contrast", [images, contrast_factor]) as name:
        images = to_tensor(images, name="images")
        adjusted = apply_op("AdjustContrastv2", _as_floats(images), contrast_factor, name=name)
        return convert_image_dtype(adjusted, images.dtype, saturate=True)


def random_contrast(image: Any, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """adjust_contrast by a factor from [lower, upper)."""
    return adjust_contrast(image, _factor(lower, upper, seed))


def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> Tensor:
    """gain * image ** gamma. Raises ValueError for a negative gamma."""
    with name_scope(None, "adjust_gamma", [image, gamma, gain]):
        image = to_tensor(image, name="image")
        floats = _as_floats(image)
        checks = require(gamma >= 0, "Gamma should be a non-negative real number.")
        if checks:
            gamma = with_dependencies(checks, gamma)
        return convert_image_dtype(gain * floats**gamma, image.dtype, saturate=True)


# ---- hue and saturation


def adjust_hue(image: Any, delta: Any, name: str | None = None) -> Tensor:
    """The hue turned by delta, of which 1 is the whole circle."""
    with name_scope(name, "adjust_hue", [image]):
        image = to_tensor(image, name="image")
        return convert_image_dtype(apply_op("AdjustHue", _as_floats(image), delta), image.dtype)


def random_hue(image: Any, max_delta: float, seed: int | None = None) -> Tensor:
    """The hue turned by at most max_delta, which is 0.5 or less."""
    if max_delta > 0.5:
        raise ValueError("max_delta must be <= 0.5.")
    return adjust_hue(image, _delta(max_delta, seed))


def adjust_saturation(image: Any, saturation_factor: Any, name: str | None = None) -> Tensor:
    """The saturation times a factor."""
    with name_scope(name, "adjust_saturation", [image]):
        image = to_tensor(image, name="image")
        adjusted = apply_op("AdjustSaturation", _as_floats(image), saturation_factor)
        return convert_image_dtype(adjusted, image.dtype)


def random_saturation(image: Any, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """adjust_saturation by a factor from [lower, upper)."""
    return adjust_saturation(image, _factor(lower, upper, seed))


# ---- spaces


def rgb_to_grayscale(images: Any, name: str | None = None) -> Tensor:
    """The brightness that an eye sees, as one channel."""
    with name_scope(name, "rgb_to_grayscale", [images]) as name:
        images = to_tensor(images, name="images")
        floats = convert_image_dtype(images, float32)
        gray = array.expand_dims(math.tensordot(floats, [0.2989, 0.5870, 0.1140], [-1, -1]), -1)
        return convert_image_dtype(gray, images.dtype, name=name)


def grayscale_to_rgb(images: Any, name: str | None = None) -> Tensor:
    """The one channel three times."""
    with name_scope(name, "grayscale_to_rgb", [images]) as name:
        images = to_tensor(checked_gray(images), name="images")
        others = array.expand_dims(array.rank(images) - 1, 0)
        parts = [array.ones(others, dtype=int32), array.expand_dims(3, 0)]
        rgb = array.tile(images, array.concat(parts, 0), name=name)
        rgb.set_shape(images.shape[:-1].concatenate([3]))
        return rgb


def _in_space(images: Any, kernel: list[list[float]]) -> Tensor:
    """The channels times a matrix."""
    images = to_tensor(images, name="images")
    matrix = to_tensor(kernel, images.dtype, name="kernel")
    return math.tensordot(images, matrix, axes=[[images.shape.ndims - 1], [0]])


# Rows: red, green and blue, and the other way round luma and two of chroma.
_RGB_TO_YIQ = [
    [0.299, 0.59590059, 0.2115],
    [0.587, -0.27455667, -0.52273617],
    [0.114, -0.32134392, 0.31119955],
]
_YIQ_TO_RGB = [
    [1, 1, 1],
    [0.95598634, -0.27201283, -1.10674021],
    [0.6208248, -0.64720424, 1.70423049],
]
_RGB_TO_YUV = [
    [0.299, -0.14714119, 0.61497538],
    [0.587, -0.28886916, -0.51496512],
    [0.114, 0.43601035, -0.10001026],
]
_YUV_TO_RGB = [
    [1, 1, 1],
    [0, -0.394642334, 2.03206185],
    [1.13988303, -0.58062185, 0],
]


def rgb_to_yiq(images: Any) -> Tensor:
    return _in_space(images, _RGB_TO_YIQ)


def yiq_to_rgb(images: Any) -> Tensor:
    return _in_space(images, _YIQ_TO_RGB)


def rgb_to_yuv(images: Any) -> Tensor:
    return _in_space(images, _RGB_TO_YUV)


def yuv_to_rgb(images: Any) -> Tensor:
    return _in_space(images, _YUV_TO_RGB)
