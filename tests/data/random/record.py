"""Records what a real TensorFlow 1.15 draws: TF=tensorflow python record.py > draws.json

Each case: an op with inputs and attributes, and its output in each of several steps of one session.
Large outputs are kept as SHA-256 of their bytes.
"""

import hashlib
import importlib
import json
import os
import sys

import numpy as np

tf = importlib.import_module(os.environ["TF"])

SEEDS = [(87654321, 5), (-3, 2**40)]
SHAPES = [(), (1,), (7,), (2, 3, 3), (0,)]
FLOATS = ["float16", "float32", "float64"]
INTS = ["int32", "int64"]
LARGE = 1000  # outputs with more elements are hashed


def cases():
    for seed, seed2 in SEEDS:
        seeds = {"seed": seed, "seed2": seed2}
        yield from floats(seeds)
        yield from integers(seeds)
        yield from others(seeds)
    yield from large({"seed": 1, "seed2": 2})
    yield from stateless()


def floats(seeds):
    for op in ("RandomUniform", "RandomStandardNormal", "TruncatedNormal"):
        for dtype in FLOATS:
            for shape in SHAPES:
                yield op, {"shape": (shape, "int32")}, {"dtype": dtype, **seeds}


def integers(seeds):
    for dtype in INTS:
        limits = np.iinfo(dtype)
        for low, high in ((-7, 1000), (0, 3), (limits.min, limits.max)):
            bounds = {"minval": (int(low), dtype), "maxval": (int(high), dtype)}
            yield "RandomUniformInt", {"shape": ((3, 3), "int64"), **bounds}, seeds


def others(seeds):
    for size in (0, 1, 2, 12):
        yield "RandomShuffle", {"value": (list(range(size)), "int32")}, seeds
    yield "RandomShuffle", {"value": (np.arange(12).reshape(6, 2).tolist(), "int64")}, seeds
    logits = np.sin(np.arange(12.0)).reshape(3, 4).round(3).tolist()
    for count in (1, 5, 8):
        samples = {"logits": (logits, "float32"), "num_samples": (count, "int32")}
        yield "Multinomial", samples, seeds
    yield (
        "Multinomial",
        {"logits": (logits, "float64"), "num_samples": (4, "int32")},
        {
            "output_dtype": "int32",
            **seeds,
        },
    )
    for dtype in FLOATS:
        for alpha in (2.5, [0.0625, 0.5, 1.0, 100.0]):
            yield "RandomGamma", {"shape": ((6,), "int32"), "alpha": (alpha, dtype)}, seeds
    for dtype in FLOATS + INTS:
        rates = {"shape": ((8,), "int32"), "rate": ([0.0, 0.5, 3.0, 9.75, 10.0, 300.0], "float32")}
        yield "RandomPoissonV2", rates, {"dtype": dtype, **seeds}


def large(seeds):
    for op in ("RandomUniform", "RandomStandardNormal", "TruncatedNormal"):
        yield op, {"shape": ((300_003,), "int32")}, {"dtype": "float32", **seeds}
    yield "RandomStandardNormal", {"shape": ((50_001,), "int32")}, {"dtype": "float64", **seeds}
    yield "RandomGamma", {"shape": ((20_000,), "int32"), "alpha": ([0.7, 3.0], "float64")}, seeds
    yield (
        "RandomPoissonV2",
        {"shape": ((9000,), "int32"), "rate": ([4.0, 40.0], "float32")},
        {
            "dtype": "int64",
            **seeds,
        },
    )
    yield "RandomShuffle", {"value": (list(range(2000)), "int32")}, seeds


def stateless():
    inputs = {"shape": ((5,), "int32"), "seed": ((17, -4), "int64")}
    for op in ("StatelessRandomUniform", "StatelessRandomNormal", "StatelessTruncatedNormal"):
        for dtype in FLOATS:
            yield op, inputs, {"dtype": dtype}
    for dtype in INTS:
        bounds = {"minval": (-4, dtype), "maxval": (77, dtype)}
        yield "StatelessRandomUniformInt", {**inputs, **bounds}, {}
    logits = {"logits": ([[0.5, 0.25, -1.0], [1.0, 2.0, 3.0]], "float64")}
    seed = {"num_samples": (6, "int32"), "seed": ((17, -4), "int64")}
    yield "StatelessMultinomial", {**logits, **seed}, {}


def kept(array):
    shown = {"dtype": array.dtype.name, "shape": list(array.shape)}
    if array.size > LARGE:
        return {**shown, "sha256": hashlib.sha256(array.tobytes()).hexdigest()}
    return {**shown, "data": array.ravel().tolist()}


def main():
    made = list(cases())
    tensors = [
        getattr(tf.raw_ops, op)(
            **{name: np.array(value, dtype) for name, (value, dtype) in inputs.items()}, **attrs
        )
        for op, inputs, attrs in made
    ]
    with tf.compat.v1.Session() as session:
        steps = [session.run(tensors) for _ in range(2)]
    rows = [
        {"op": op, "inputs": inputs, "attrs": attrs, "steps": [kept(s[i]) for s in steps]}
        for i, (op, inputs, attrs) in enumerate(made)
    ]
    lines = ",\n".join(json.dumps(row) for row in rows)
    sys.stdout.write("[\n" + lines + "\n]\n")


main()
