"""`from tensorflow.python.client import timeline` (the code: minitf/timeline.py)."""

from minitf.timeline import AllocationMaximum, StepStatsAnalysis, Timeline

__all__ = ["AllocationMaximum", "StepStatsAnalysis", "Timeline"]
