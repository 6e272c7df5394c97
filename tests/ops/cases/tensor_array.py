"""Ops of ops/tensor_array.py: they share a resource, so that one alone has nothing to show."""

_WHY = "works on a TensorArray that other ops make and fill: tests of TensorArray"

EXEMPT = {
    f"TensorArray{what}V3": _WHY
    for what in (
        "", "Grad", "Write", "Read", "Gather", "Scatter", "Concat", "Split", "Size", "Close",
    )
}  # fmt: skip
