"""Cases of ops/debug.py and candidate.py, and why stateful ops have none here."""

import numpy as np

from ops.cases import case, f32, i32, ints, strings

_COUNT = "how many there are depends on the values"

CASES = {
    "EnsureShape": [case(f32(2, 3), shape=[None, 3]), case(f32(2, 3), shape=[2, 3])],
    "StringFormat": [
        case([f32(2, 3), i32(9)], template="a {} b {}", placeholder="{}", summarize=2),
        case([strings(b"x", b'"')], template="{}|", placeholder="{}"),
    ],
    "ComputeAccidentalHits": [
        case(
            np.array([[1, 2], [3, 4], [0, 7]]), ints(7, 3, 9, 1, dtype="int64"), num_true=2
        ).without("full shape", why=_COUNT)
    ],
}

_QUEUE_OPS = "Enqueue EnqueueMany Dequeue DequeueMany DequeueUpTo Size IsClosed Close"
_QUEUE = "tested in test_queue.py"
_ACCUMULATOR = "tested in test_accumulator.py"
_OTHER = "tested in test_debug.py and test_script.py"
_SAMPLER = "stateful: tested in test_nn_values.py"

EXEMPT = {
    **{
        f"{kind}Queue{version}": _QUEUE
        for kind in ("FIFO", "PaddingFIFO", "RandomShuffle", "Priority")
        for version in ("", "V2")
    },
    **{f"Queue{what}{version}": _QUEUE for what in _QUEUE_OPS.split() for version in ("", "V2")},
    **{
        f"{prefix}Accumulator{what}": _ACCUMULATOR
        for prefix in ("", "Resource")
        for what in ("ApplyGradient", "TakeGradient", "NumAccumulated", "SetGlobalStep")
    },
    "ConditionalAccumulator": _ACCUMULATOR,
    "ResourceConditionalAccumulator": _ACCUMULATOR,
    "SparseConditionalAccumulator": _ACCUMULATOR,
    "SparseAccumulatorApplyGradient": _ACCUMULATOR,
    "SparseAccumulatorTakeGradient": _ACCUMULATOR,
    **dict.fromkeys("Assert Print PrintV2 Timestamp PyFunc PyFuncStateless".split(), _OTHER),
    "UniformCandidateSampler": _SAMPLER,
    "LogUniformCandidateSampler": _SAMPLER,
    "AllCandidateSampler": _SAMPLER,
}
