"""Ops of datasets and iterators: they are tested in pipelines, in tests/dataset."""

from minitf_runtime.ops.registry import OPS

EXEMPT = {
    name: "gives or takes a dataset, or an iterator"
    for name in OPS
    if "Dataset" in name or "Iterator" in name
}
