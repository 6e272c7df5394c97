"""Ops on boxes in pictures: which of them to keep, and drawing them.

Picking one at random is in image_sampling.py.

A box is [y1, x1, y2, x2]; any two opposite corners will do.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from minitf_runtime.errors import invalid
from minitf_runtime.ops import dims
from minitf_runtime.ops.registry import ShapeContext, Type, kernel, op
from minitf_runtime.types import (
    Shape,
    float16,
    float32,
    show_shape,
)

_T = Type((float16, float32), float32)

# ---- suppression of boxes that overlap better ones


def _selected(c: ShapeContext) -> list[Shape]:
    (count, columns), (scores,) = c.rank(0, 2), c.rank(1, 1)
    dims.merge_sizes(count, scores)
    if c.opdef.name != "NonMaxSuppressionWithOverlaps":
        dims.fixed_size(columns, 4)
    for i in range(2, len(c.shapes)):
        c.rank(i, 0)
    return [(None,)]


def _padded_size(c: ShapeContext) -> Any:
    """The number of selected boxes if it is known."""
    wanted = c.value(2)
    return int(wanted) if c["pad_to_max_output_size"] and wanted is not None else None


_BOXES = "boxes: float32, scores: float32, max_output_size: int32"
_BOXES_T = "boxes: T, scores: T, max_output_size: int32"
_LIMIT = ", iou_threshold: T_threshold"
_LIMITS = f"{_LIMIT}, score_threshold: T_threshold"
_INDICES = " -> selected_indices: int32"
op("NonMaxSuppression", _BOXES + _INDICES, _selected, iou_threshold=0.5)
op("NonMaxSuppressionV2", _BOXES_T + _LIMIT + _INDICES, _selected, T=_T, T_threshold=_T)
op("NonMaxSuppressionV3", _BOXES_T + _LIMITS + _INDICES, _selected, T=_T, T_threshold=_T)
op(
    "NonMaxSuppressionV4",
    f"{_BOXES_T}{_LIMITS}{_INDICES}, valid_outputs: int32",
    lambda c: [*(_selected(c) and [(_padded_size(c),)]), ()],
    T=_T,
    T_threshold=_T,
    pad_to_max_output_size=False,
)
op(
    "NonMaxSuppressionV5",
    f"{_BOXES_T}, iou_threshold: T, score_threshold: T, soft_nms_sigma: T{_INDICES}, "
    "selected_scores: T, valid_outputs: int32",
    lambda c: [*(_selected(c) and [(_padded_size(c),)] * 2), ()],
    T=_T,
    pad_to_max_output_size=False,
)
op(
    "NonMaxSuppressionWithOverlaps",
    "overlaps: float32, scores: float32, max_output_size: int32, overlap_threshold: float32, "
    "score_threshold: float32 -> selected_indices: int32",
    _selected,
)

Overlap = Callable[[int, list[int]], np.ndarray]  # of a box with some others


def _overlap_of(boxes: np.ndarray) -> Overlap:
    """The share that two boxes have in common."""
    corners = boxes.astype(np.float32).reshape(-1, 2, 2)
    low, high = corners.min(axis=1), corners.max(axis=1)
    areas = (high - low).prod(axis=1)

    def overlap(i: int, others: list[int]) -> np.ndarray:
        sides = np.minimum(high[i], high[others]) - np.maximum(low[i], low[others])
        common = np.maximum(sides, 0).prod(axis=1)
        both = areas[i] + areas[others] - common
        usable = (areas[i] > 0) & (areas[others] > 0)
        return np.where(usable, common / np.where(both > 0, both, 1), 0)

    return overlap


def _keep(
    overlap: Overlap, scores: np.ndarray, most: int, limit: float, least: float, sigma: float = 0
) -> tuple[list[int], list[float]]:
    """The boxes to keep, by falling score. With a sigma, scores fall for those that overlap."""
    waiting = [(-float(s), i, 0) for i, s in enumerate(scores) if s > least]
    heapq.heapify(waiting)
    kept: list[int] = []
    found: list[float] = []
    while waiting and len(kept) < most:
        negative, i, seen = heapq.heappop(waiting)
        score = -negative
        shares = overlap(i, kept[seen:])[::-1] if len(kept) > seen else np.empty(0)
        if not sigma and (shares > limit).any():
            continue
        for share in shares if sigma else ():
            score *= _weight(float(share), limit, sigma)
            if score <= least:
                break
        if score == -negative:
            kept.append(i)
            found.append(score)
        elif score > least:
            heapq.heappush(waiting, (-score, i, len(kept)))
    return kept, found


def _weight(share: float, limit: float, sigma: float) -> float:
    """What becomes of a score by an overlap."""
    return math.exp(-0.5 * share * share / sigma) if share <= limit else 0.0


def _checked_boxes(boxes: Any, scores: Any, most: Any) -> int:
    """How many to keep. Raises InvalidArgumentError."""
    if most.ndim:
        raise invalid(f"max_output_size must be 0-D, got shape {show_shape(most.shape)}")
    if boxes.ndim != 2:
        raise invalid(f"boxes must be 2-D{show_shape(boxes.shape)}")
    if boxes.shape[1] != 4:
        raise invalid("boxes must have 4 columns")
    if scores.shape != boxes.shape[:1]:
        raise invalid("scores has incompatible shape")
    if most < 0:
        raise invalid("output size must be non-negative")
    return int(most)


def _checked_limit(limit: Any, name: str = "iou_threshold") -> float:
    if limit.ndim:
        raise invalid(f"{name} must be 0-D, got shape {show_shape(limit.shape)}")
    if not 0 <= limit <= 1:
        raise invalid(f"{name} must be in [0, 1]")
    return float(limit)


def _non_max(
    boxes: Any, scores: Any, most: Any, limit: Any, least: Any = -math.inf, sigma: Any = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    count = _checked_boxes(boxes, scores, most)
    limit = _checked_limit(np.asarray(limit))
    kept, found = _keep(_overlap_of(boxes), scores, count, limit, float(least), float(sigma))
    return np.array(kept, np.int32), np.array(found, scores.dtype)


def _filled(values: np.ndarray, most: Any, padded: bool) -> np.ndarray:
    return np.pad(values, (0, int(most) - len(values))) if padded else values


@kernel("NonMaxSuppression", device="CPU")
def non_max_suppression(
    xp: Any, boxes: Any, scores: Any, most: Any, *, iou_threshold: float
) -> Any:
    return _non_max(boxes, scores, most, iou_threshold)[0]


@kernel("NonMaxSuppressionV2", device="CPU")
def non_max_suppression_v2(xp: Any, boxes: Any, scores: Any, most: Any, limit: Any) -> Any:
    return _non_max(boxes, scores, most, limit)[0]


@kernel("NonMaxSuppressionV3", device="CPU")
def non_max_suppression_v3(
    xp: Any, boxes: Any, scores: Any, most: Any, limit: Any, least: Any
) -> Any:
    return _non_max(boxes, scores, most, limit, least)[0]


@kernel("NonMaxSuppressionV4", device="CPU")
def non_max_suppression_v4(
    xp: Any, boxes: Any, scores: Any, most: Any, limit: Any, least: Any,
    *, pad_to_max_output_size: bool,
) -> Any:  # fmt: skip
    kept, _ = _non_max(boxes, scores, most, limit, least)
    return _filled(kept, most, pad_to_max_output_size), np.int32(len(kept))


@kernel("NonMaxSuppressionV5", device="CPU")
def non_max_suppression_v5(
    xp: Any, boxes: Any, scores: Any, most: Any, limit: Any, least: Any, sigma: Any,
    *, pad_to_max_output_size: bool,
) -> Any:  # fmt: skip
    if sigma < 0:
        raise invalid("soft_nms_sigma_ must be non-negative")
    kept, found = _non_max(boxes, scores, most, limit, least, sigma)
    padded = pad_to_max_output_size
    return _filled(kept, most, padded), _filled(found, most, padded), np.int32(len(kept))


@kernel("NonMaxSuppressionWithOverlaps", device="CPU")
def non_max_suppression_with_overlaps(
    xp: Any, overlaps: Any, scores: Any, most: Any, limit: Any, least: Any
) -> Any:
    if overlaps.ndim != 2 or overlaps.shape[0] != overlaps.shape[1]:
        raise invalid(f"overlaps must be square{show_shape(overlaps.shape)}")
    if scores.shape != overlaps.shape[:1]:
        raise invalid("scores has incompatible shape")

    def overlap(i: int, others: list[int]) -> np.ndarray:
        return overlaps[i, others]  # type: ignore[no-any-return]

    kept, _ = _keep(overlap, scores, int(most), float(limit), float(least))
    return np.array(kept, np.int32)


@op(
    "CombinedNonMaxSuppression",
    "boxes: float32, scores: float32, max_output_size_per_class: int32, max_total_size: int32, "
    "iou_threshold: float32, score_threshold: float32 -> nmsed_boxes: float32, nmsed_scores: "
    "float32, nmsed_classes: float32, valid_detections: int32",
    pad_per_class=False,
    clip_boxes=True,
)
def combined_shape(c: ShapeContext) -> list[Shape]:
    """The boxes to keep of each picture of a batch, by the classes' scores."""
    batch, count, classes, four = c.rank(0, 4)
    dims.fixed_size(four, 4)
    also, scored, kinds = c.rank(1, 3)
    batch = dims.merge_sizes(batch, also)
    dims.merge_sizes(count, scored)
    total = c.value(3)
    size = None if total is None else int(total)
    each = c.value(2)
    if c["pad_per_class"]:
        fitting = None if each is None or kinds is None else int(each) * kinds
        size = None if size is None or fitting is None else min(size, fitting)
    return [(batch, size, 4), (batch, size), (batch, size), (batch,)]


@kernel("CombinedNonMaxSuppression", device="CPU")
def combined_non_max_suppression(
    xp: Any, boxes: Any, scores: Any, each: Any, total: Any, limit: Any, least: Any,
    *, pad_per_class: bool, clip_boxes: bool,
) -> Any:  # fmt: skip
    limit = _checked_limit(limit)
    if boxes.shape[2] not in (1, scores.shape[2]):
        raise invalid("third dimension of boxes must be either 1 or equal to the number of classes")
    if total <= 0:
        raise invalid("max_total_size must be > 0")
    size = min(int(total), int(each) * scores.shape[2]) if pad_per_class else int(total)
    out_boxes = np.zeros((len(boxes), size, 4), np.float32)
    out_scores = np.zeros((2, len(boxes), size), np.float32)  # scores, and their classes
    counts = np.zeros(len(boxes), np.int32)
    for b in range(len(boxes)):
        found = sorted(_of_classes(boxes[b], scores[b], int(each), limit, float(least)))[:size]
        counts[b] = len(found)
        for i, (negative, kind, box) in enumerate(found):
            out_boxes[b, i] = boxes[b, box, kind if boxes.shape[2] > 1 else 0]
            out_scores[:, b, i] = -negative, kind
    if clip_boxes:
        out_boxes = np.clip(out_boxes, 0, 1)
    return out_boxes, *out_scores, counts


def _of_classes(
    boxes: Any, scores: Any, each: int, limit: float, least: float
) -> Iterator[tuple[float, int, int]]:
    """Minus the score, the class and the box of all that each class by itself would keep."""
    for kind in range(scores.shape[1]):
        own = boxes[:, kind if boxes.shape[1] > 1 else 0]
        kept, found = _keep(_overlap_of(own), scores[:, kind], each, limit, least)
        for box, score in zip(kept, found):
            yield -score, kind, box


# ---- drawing


def _drawn_shape(c: ShapeContext) -> list[Shape]:
    """Pictures with boxes drawn in, one pixel wide."""
    *_, four = c.rank(1, 3)
    dims.fixed_size(four, 4)
    return [c.rank(0, 4)]


op("DrawBoundingBoxes", "images: T, boxes: float32 -> output: T", _drawn_shape, T=_T)
op("DrawBoundingBoxesV2", "images: T, boxes: float32, colors: float32 -> output: T",
   _drawn_shape, T=_T)  # fmt: skip
_COLOURS = np.array(
    [
        [1, 1, 0, 1], [0, 0, 1, 1], [1, 0, 0, 1], [0, 1, 0, 1], [0.5, 0, 0.5, 1],
        [0.5, 0.5, 0, 1], [0.5, 0, 0, 1], [0, 0, 0.5, 1], [0, 1, 1, 1], [1, 0, 1, 1],
    ],
    np.float32,
)  # fmt: skip


@kernel("DrawBoundingBoxes", device="CPU")
def draw_bounding_boxes(xp: Any, images: Any, boxes: Any) -> Any:
    return _drawn(images, boxes, _COLOURS)


@kernel("DrawBoundingBoxesV2", device="CPU")
def draw_bounding_boxes_v2(xp: Any, images: Any, boxes: Any, colors: Any) -> Any:
    return _drawn(images, boxes, colors if len(colors) else _COLOURS)


def _drawn(images: Any, boxes: Any, colours: np.ndarray) -> np.ndarray:
    depth = images.shape[3]
    if depth not in (1, 3, 4):
        raise invalid("Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)")
    if colours.shape[1] < depth:
        colours = np.pad(colours, ((0, 0), (0, depth - colours.shape[1])), constant_values=1)
    if depth == 1:
        colours = np.ones_like(colours)
    out = images.copy()
    for image, own in zip(out, boxes):
        for i, box in enumerate(own):
            _draw(image, box, colours[i % len(colours), :depth])
    return out


def _draw(image: np.ndarray, box: Any, colour: Any) -> None:
    height, width, _ = image.shape
    ends = (height - 1, width - 1) * 2
    top, left, bottom, right = (int(x * most) for x, most in zip(box.astype(np.float32), ends))
    if top > bottom or left > right:
        return
    if top >= height or bottom < 0 or left >= width or right < 0:
        return
    rows = slice(max(top, 0), min(bottom, height - 1) + 1)
    columns = slice(max(left, 0), min(right, width - 1) + 1)
    if top >= 0:
        image[top, columns] = colour
    if bottom < height:
        image[bottom, columns] = colour
    if left >= 0:
        image[rows, left] = colour
    if right < width:
        image[rows, right] = colour
