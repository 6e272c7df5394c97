"""Cases of the ops on pictures: ops/image_*.py."""

from __future__ import annotations

import numpy as np

from ops.cases import Case, case, f32, ints, only_f32, reals

_HALF_PIXELS = dict(half_pixel_centers=True)
_CORNERS = dict(align_corners=True)
_SMALL, _LARGE = ints(2, 3), ints(7, 9)
_PICTURE = f32(2, 4, 5, 3, low=0, high=1)  # of any type
_FLOATS = only_f32(2, 4, 5, 3, low=0, high=1)
_BOXES = np.array([[0, 0, 1, 1], [0.2, 0.1, 0.7, 0.95], [0.8, 0.6, 0.1, 0.3]], "float32")
_BEYOND = np.array([[-0.3, 0.2, 0.5, 1.4], [0.1, 0.2, 0.9, 0.7], [0, 0, 1, 1]], "float32")
_INNER = np.array(
    [[0.11, 0.13, 0.83, 0.93], [0.2, 0.1, 0.7, 0.93], [0.8, 0.6, 0.12, 0.3]], "float32"
)
_OF = ints(0, 1, 0)


def _first_of_any_type(cases: list[Case]) -> list[Case]:
    """The slope of the first one cannot be found in doubles: the results are float32."""
    return [cases[0].without("gradient", why="computed in float32"), *cases[1:]]


def _resize_cases(*ways: dict) -> list[Case]:
    sizes = (_SMALL, _LARGE, ints(1, 1))
    cases = [case(_PICTURE, _SMALL)]
    return _first_of_any_type(
        cases + [case(_FLOATS, size, **how) for size in sizes for how in ways]
    )


def _grad_cases() -> list[Case]:
    """Of a picture that was made smaller, and of one that was made larger."""
    out = [case(only_f32(2, 2, 3, 2), f32(2, 4, 5, 2))]
    for shape in ((2, 2, 3, 2), (2, 7, 9, 2)):
        for how in ({}, _CORNERS, _HALF_PIXELS):
            out.append(case(only_f32(*shape), only_f32(2, 4, 5, 2), **how))
    return out


# Eight corners of the cube of colours and some between them.
_COLOURS = np.array(
    [[0, 0, 0], [1, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 1],
     [0.5, 0.2, 0.3], [0.1, 0.9, 0.4], [0.25, 0.25, 0.7], [0.6, 0.6, 0.6]],
    "float32",
)  # fmt: skip
_GRID = _COLOURS.reshape(1, 3, 4, 3)

_OVERLAPPING = np.array(
    [[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [0, 10.1, 1, 11.1],
     [1, 101, 0, 100]],
    "float32",
)  # fmt: skip
_SCORES = np.array([0.9, 0.75, 0.6, 0.95, 0.5, 0.3], "float32")
_OVERLAPS = np.array(
    [[1, 0.9, 0, 0.2], [0.9, 1, 0.1, 0.3], [0, 0.1, 1, 0.6], [0.2, 0.3, 0.6, 1]], "float32"
)
_LIMITS = (0.5, np.array(-np.inf, "float32"))
_STRICT = (0.5, 0.4)


def _batch_of_classes() -> tuple[np.ndarray, np.ndarray]:
    boxes = np.stack([_OVERLAPPING, _OVERLAPPING[::-1] * np.float32(0.05)])[:, :, None]
    scores = np.stack([_SCORES, _SCORES[::-1], _SCORES * np.float32(0.5)], axis=1)
    return boxes, np.stack([scores, scores[::-1]])


_MANY, _MANY_SCORES = _batch_of_classes()

CASES = {
    "ResizeBilinear": _resize_cases({}, _CORNERS, _HALF_PIXELS),
    "ResizeNearestNeighbor": _resize_cases({}, _CORNERS, _HALF_PIXELS),
    "ResizeBicubic": _resize_cases({}, _CORNERS, _HALF_PIXELS),
    "ResizeArea": [*_resize_cases({}, _CORNERS), case(_FLOATS, ints(4, 10), **_CORNERS)],
    "ResizeBilinearGrad": _grad_cases(),
    "ResizeBicubicGrad": _grad_cases(),
    "ResizeNearestNeighborGrad": [
        case(f32(2, 3, 4, 2), size, **how)
        for size in (ints(2, 2), ints(5, 7))
        for how in ({}, _CORNERS, _HALF_PIXELS)
    ],
    "CropAndResize": [
        case(_PICTURE, _BOXES, _OF, _SMALL).without("gradient", why="computed in float32"),
        case(_FLOATS, _INNER, _OF, _SMALL),
        case(_FLOATS, _INNER, _OF, ints(1, 1)),
        *(
            c.without("gradient", why="it jumps at the edges, and for the nearest pixel")
            for c in (
                case(_FLOATS, _BEYOND, _OF, _LARGE, extrapolation_value=0.5),
                case(_FLOATS, _BEYOND, _OF, ints(3, 4), method="nearest"),
            )
        ),
    ],
    "CropAndResizeGradImage": [
        case(only_f32(3, 3, 4, 2), boxes, _OF, ints(2, 4, 5, 2), T="float32", method=method)
        for boxes in (_BOXES, _BEYOND)
        for method in ("bilinear", "nearest")
    ]
    + [case(only_f32(3, 1, 1, 2), _BOXES, _OF, ints(2, 4, 5, 2), T="float64")],
    "CropAndResizeGradBoxes": [
        case(only_f32(3, *size, 3), _PICTURE, boxes, _OF)
        for boxes in (_BOXES, _BEYOND)
        for size in ((3, 4), (1, 1))
    ],
    "ExtractGlimpse": [
        case(only_f32(2, 5, 7, 2), ints(3, 2), np.array([[0, 0], [0.2, -0.3]], "float32")),
        case(
            only_f32(2, 5, 7, 2), ints(2, 3), np.array([[1.5, 2], [3, 4]], "float32"),
            centered=False, normalized=False,
        ),
        case(
            only_f32(2, 5, 7, 2), ints(4, 4), np.array([[0, 0], [-1, 0.5]], "float32"),
            normalized=False, uniform_noise=False, noise="zero",
        ),
    ],
    "RGBToHSV": [
        case(f32(2, 3, 3, low=0, high=1)).without("gradient", why="of float32 alone, as in TF"),
        case(_COLOURS).without("gradient", why="corners"),
        case(np.array([[0.5, 0.2, 0.3], [0.1, 0.9, 0.4], [0.3, 0.25, 0.7]], "float32")),
    ],
    "HSVToRGB": [case(_COLOURS), case(f32(2, 3, 3, low=0, high=1))],
    "AdjustHue": [
        case(_GRID, 0.3), case(f32(3, 2, 3, low=0, high=1), -0.7), case(f32(3, 2, 3), 0.1),
    ],
    "AdjustSaturation": [case(_GRID, 0.3), case(f32(3, 2, 3, low=0, high=1), 2.5)],
    "AdjustContrastv2": [case(f32(2, 3, 4, 3), 0.5), case(f32(3, 4, 1), -2.0)],
    "NonMaxSuppression": [case(_OVERLAPPING, _SCORES, 3), case(_OVERLAPPING, _SCORES, 9)],
    "NonMaxSuppressionV2": [
        case(_OVERLAPPING, _SCORES, 3, reals(0.5)), case(_OVERLAPPING, _SCORES, 0, 0.5),
    ],
    "NonMaxSuppressionV3": [
        case(_OVERLAPPING, _SCORES, 9, *_LIMITS), case(_OVERLAPPING, _SCORES, 9, *_STRICT),
        case(_OVERLAPPING, _SCORES, 2, 0.9, 0.0),
    ],
    "NonMaxSuppressionV4": [
        case(_OVERLAPPING, _SCORES, 9, *_LIMITS),
        case(_OVERLAPPING, _SCORES, 9, *_STRICT, pad_to_max_output_size=True),
    ],
    "NonMaxSuppressionV5": [
        case(_OVERLAPPING, _SCORES, 9, *_LIMITS, 0.0),
        case(_OVERLAPPING, _SCORES, 9, 1.0, 0.0, 0.5, pad_to_max_output_size=True),
        case(_OVERLAPPING, _SCORES, 4, 0.95, 0.2, 0.2),
    ],
    "NonMaxSuppressionWithOverlaps": [
        case(np.eye(4, dtype="float32"), only_f32(4), 3, 0.5, -9.0),
        case(_OVERLAPS, only_f32(4), 9, 0.5, -9.0),
    ],
    "CombinedNonMaxSuppression": [
        case(_MANY, _MANY_SCORES, 3, 5, *_STRICT),
        case(_MANY, _MANY_SCORES, 2, 20, 0.5, 0.0, pad_per_class=True, clip_boxes=False),
        case(np.repeat(_MANY, 3, axis=2), _MANY_SCORES, 3, 4, 0.5, 0.0),
    ],
    "DrawBoundingBoxes": [
        case(f32(2, 6, 7, 3, low=0, high=1), np.stack([_BOXES, _BEYOND])),
        case(f32(1, 6, 7, 1, low=0, high=1), _BEYOND[None]),
        case(f32(1, 6, 7, 4, low=0, high=1), _BEYOND[None]),
    ],
    "DrawBoundingBoxesV2": [
        case(f32(1, 6, 7, 3, low=0, high=1), _BEYOND[None], only_f32(2, 3)),
    ],
    "SampleDistortedBoundingBox": [
        case(ints(40, 50, 3), _BOXES[None, :2], seed=3, seed2=seed, min_object_covered=0.3)
        for seed in range(4)
    ],
    "SampleDistortedBoundingBoxV2": [
        case(ints(40, 50, 3), _BOXES[None, :2], 0.3, seed=3, seed2=seed) for seed in range(4)
    ]
    + [
        case(
            ints(30, 20, 3), np.zeros((1, 0, 4), "float32"), 0.9, seed=5,
            use_image_if_no_bounding_boxes=True, aspect_ratio_range=[0.5, 3.0],
            area_range=[0.1, 0.9],
        ),
    ],
}  # fmt: skip
for _name in CASES:
    if _name.startswith("NonMax"):
        CASES[_name] = [c.without("full shape", why="depends on the values") for c in CASES[_name]]
