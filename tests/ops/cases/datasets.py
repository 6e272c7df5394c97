"""Ops of datasets and iterators: they are tested in pipelines, in tests/dataset."""

from minitf_runtime.ops.registry import OPS

_BOXES = ("DeserializeSparse", "SerializeManySparse", "SerializeSparse")
EXEMPT = {
    name: "gives or takes a dataset, an iterator, or what a dataset holds"
    for name in OPS
    if "Dataset" in name or "Iterator" in name or name in _BOXES
}
