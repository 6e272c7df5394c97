"""Ops of tf.data: datasets, which are values, and iterators, which are resources of a task."""

from minitf_runtime.ops.datasets import batches, calls, files, grouping, iterators, order, sources

__all__ = ["batches", "calls", "files", "grouping", "iterators", "order", "sources"]
