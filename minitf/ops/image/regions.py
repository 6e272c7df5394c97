"""Parts of pictures: crops, glimpses, boxes and which of them to keep."""

from __future__ import annotations

from typing import Any

import minitf_runtime.ops.image_boxes
import minitf_runtime.ops.image_crop
import minitf_runtime.ops.image_sampling  # noqa: F401  (declare the ops)
from minitf.convert import to_tensor
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops.apply import apply_op
from minitf.ops.arguments import renamed
from minitf_runtime.types import float32

_NO_THRESHOLD = float("-inf")


def crop_and_resize(
    image: Any, boxes: Any, box_ind: Any = None, crop_size: Any = None, method: str = "bilinear",
    extrapolation_value: float = 0, name: str | None = None, box_indices: Any = None,
) -> Tensor:  # fmt: skip
    """The part in each box [y1, x1, y2, x2], from 0 to 1, of the picture that goes with it."""
    of = renamed("box_indices", box_indices, "box_ind", box_ind)
    return apply_op(
        "CropAndResize", image, boxes, of, crop_size, method=method,
        extrapolation_value=float(extrapolation_value), name=name,
    )  # fmt: skip


def extract_glimpse(
    input: Any, size: Any, offsets: Any, centered: bool = True, normalized: bool = True,  # noqa: A002
    uniform_noise: bool = True, name: str | None = None,
) -> Tensor:  # fmt: skip
    """A window of each picture; what is outside of it is noise."""
    return apply_op(
        "ExtractGlimpse", input, size, offsets, centered=centered, normalized=normalized,
        uniform_noise=uniform_noise, name=name,
    )  # fmt: skip


def draw_bounding_boxes(
    images: Any, boxes: Any, name: str | None = None, colors: Any = None
) -> Tensor:
    """Pictures with boxes drawn in."""
    if colors is None:
        return apply_op("DrawBoundingBoxes", images, boxes, name=name)
    return apply_op("DrawBoundingBoxesV2", images, boxes, colors, name=name)


def sample_distorted_bounding_box(
    image_size: Any, bounding_boxes: Any, seed: int | None = None, seed2: int | None = None,
    min_object_covered: Any = 0.1, aspect_ratio_range: Any = None, area_range: Any = None,
    max_attempts: int | None = None, use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """(begin, size, bboxes) of a random part that covers enough of one of the boxes."""
    with name_scope(name, "sample_distorted_bounding_box"):
        return apply_op(
            "SampleDistortedBoundingBoxV2", image_size, bounding_boxes, min_object_covered,
            seed=seed, seed2=seed2, aspect_ratio_range=aspect_ratio_range, area_range=area_range,
            max_attempts=max_attempts,
            use_image_if_no_bounding_boxes=use_image_if_no_bounding_boxes, name=name,
        )  # fmt: skip


# ---- boxes to keep


def non_max_suppression(
    boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any = 0.5,
    score_threshold: Any = _NO_THRESHOLD, name: str | None = None,
) -> Tensor:  # fmt: skip
    """The indices of boxes by falling score, without those that overlap a better one too much."""
    with name_scope(name, "non_max_suppression"):
        limits = _thresholds(iou_threshold, score_threshold)
        return apply_op("NonMaxSuppressionV3", boxes, scores, max_output_size, *limits)


def _thresholds(overlap: Any, score: Any, dtype: Any = None) -> list[Tensor]:
    return [
        to_tensor(overlap, dtype, name="iou_threshold"),
        to_tensor(score, dtype, name="score_threshold"),
    ]


def non_max_suppression_padded(
    boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any = 0.5,
    score_threshold: Any = _NO_THRESHOLD, pad_to_max_output_size: bool = False,
    name: str | None = None,
) -> Any:  # fmt: skip
    """The indices, which may be padded with zeros, and how many there are."""
    with name_scope(name, "non_max_suppression_padded"):
        limits = _thresholds(iou_threshold, score_threshold)
        return apply_op(
            "NonMaxSuppressionV4", boxes, scores, max_output_size, *limits,
            pad_to_max_output_size=pad_to_max_output_size,
        )  # fmt: skip


def non_max_suppression_with_scores(
    boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any = 0.5,
    score_threshold: Any = _NO_THRESHOLD, soft_nms_sigma: Any = 0.0, name: str | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The indices and scores, which fall for boxes that overlap a better one."""
    with name_scope(name, "non_max_suppression_with_scores"):
        limits = _thresholds(iou_threshold, score_threshold)
        sigma = to_tensor(soft_nms_sigma, name="soft_nms_sigma")
        indices, found, _ = apply_op(
            "NonMaxSuppressionV5", boxes, scores, max_output_size, *limits, sigma,
            pad_to_max_output_size=False,
        )  # fmt: skip
        return indices, found


def non_max_suppression_overlaps(
    overlaps: Any, scores: Any, max_output_size: Any, overlap_threshold: Any = 0.5,
    score_threshold: Any = _NO_THRESHOLD, name: str | None = None,
) -> Tensor:  # fmt: skip
    """non_max_suppression by a matrix of overlaps."""
    with name_scope(name, "non_max_suppression_overlaps"):
        limit = to_tensor(overlap_threshold, name="overlap_threshold")
        return apply_op(
            "NonMaxSuppressionWithOverlaps", overlaps, scores, max_output_size, limit,
            score_threshold,
        )  # fmt: skip


def combined_non_max_suppression(
    boxes: Any, scores: Any, max_output_size_per_class: Any, max_total_size: Any,
    iou_threshold: Any = 0.5, score_threshold: Any = _NO_THRESHOLD, pad_per_class: bool = False,
    clip_boxes: bool = True, name: str | None = None,
) -> Any:  # fmt: skip
    """(boxes, scores, classes, counts) of a batch, the classes each by itself."""
    with name_scope(name, "combined_non_max_suppression"):
        limits = _thresholds(iou_threshold, score_threshold, float32)
        return apply_op(
            "CombinedNonMaxSuppression", boxes, scores, max_output_size_per_class,
            max_total_size, *limits, pad_per_class=pad_per_class, clip_boxes=clip_boxes,
        )  # fmt: skip
