"""Small programs of random ops, initializers and matrix ops, and what a module makes of them.

A program takes the module (tensorflow or minitf) and returns the tensors to fetch. Recorded by
`TF=tensorflow python tests/client/random_programs.py > tests/data/random/programs.json`.
"""

from __future__ import annotations

import importlib
import json
import os
import sys


def uniform(tf):
    tf.set_random_seed(87654321)
    return [
        tf.random_uniform([3, 2], seed=1),
        tf.random_uniform((4,), -2.0, 3.0),
        tf.random_uniform([2], tf.constant(1.0), 5.0),
        tf.random_uniform([], dtype=tf.float64),
        tf.random_uniform([3], 0, 1000, dtype=tf.int32),
        tf.random_uniform([2], 0, 10**12, dtype=tf.int64, name="big"),
        tf.random.uniform(tf.shape(tf.zeros([2, 1]))),
        tf.random_uniform(tf.TensorShape([2]), dtype=tf.float16),
    ]


def normal(tf):
    tf.set_random_seed(3)
    return [
        tf.random_normal([2, 2]),
        tf.random.normal([3], mean=1.0, stddev=2.0, seed=4, name="n"),
        tf.random_normal([2], [1.0, 2.0], [0.5, 0.25], dtype=tf.float64),
        tf.truncated_normal([5], stddev=0.1),
        tf.random.truncated_normal([2], 4.0, dtype=tf.float16),
    ]


def others(tf):
    tf.set_random_seed(5)
    with tf.name_scope("scope"):
        shuffled = tf.random_shuffle([[1, 2], [3, 4], [5, 6]], name="mixed")
        logits = tf.constant([[0.5, 0.25, -1.0], [1.0, 2.0, 3.0]])
        return [
            shuffled,
            tf.random.shuffle(tf.range(5), seed=1),
            tf.multinomial(logits, 4),
            tf.random.categorical(logits, 3, dtype=tf.int32),
            tf.random_gamma([3], 2.5),
            tf.random_gamma([2], [0.5, 1.5], beta=[[2.0], [3.0]], dtype=tf.float64),
            tf.random_poisson(3.0, [4]),
            tf.random.poisson([0.5, 20.0], [2], dtype=tf.int32),
            tf.random_crop(tf.reshape(tf.range(12), [3, 4]), [2, 2]),
        ]


def stateless(tf):
    return [
        tf.random.stateless_uniform([3], [1, 2]),
        tf.random.stateless_uniform([3], [1, 2], 5, 9, dtype=tf.int32),
        tf.random.stateless_normal([2], [3, 4], mean=1.0),
        tf.random.stateless_truncated_normal([2], [3, 4], stddev=2.0),
        tf.random.stateless_categorical([[0.5, 0.25, -1.0]], 5, [7, 8]),
        tf.random.stateless_multinomial([[0.5, 0.25, -1.0]], 5, [7, 8], output_dtype=tf.int32),
    ]


def seeds(tf):
    """Every way to a seed: of the op alone, of the graph, of both, and the pair of zeros."""
    made = [tf.random_uniform([2], seed=7)]
    for graph_seed in (0, 2**31 - 1, -5, 2**40):
        tf.set_random_seed(graph_seed)
        made += [tf.random_uniform([2], seed=0), tf.random_uniform([2], seed=-1)]
        made += [tf.random_uniform([2], seed=2**33), tf.random_uniform([2])]
    return made


def initializers(tf):
    tf.set_random_seed(42)
    init = tf.initializers
    made = [
        tf.zeros_initializer()([2, 3], tf.int32),
        tf.ones_initializer(tf.float64)([2]),
        tf.constant_initializer([1, 2, 3])([2, 3]),
        tf.random_uniform_initializer(-1, 1, seed=2)([3]),
        tf.random_normal_initializer(stddev=0.1)([2, 2]),
        tf.truncated_normal_initializer(1.0)([3], tf.float64),
        tf.uniform_unit_scaling_initializer(1.43)([3, 2]),
        tf.orthogonal_initializer(gain=2.0, seed=3)([4, 3]),
        tf.orthogonal_initializer()([2, 2, 6]),
        init.identity(gain=3.0)([2, 3]),
        tf.glorot_uniform_initializer()([3, 2]),
        tf.glorot_normal_initializer(seed=1)([3, 3, 2, 4]),
        init.he_normal()([4]),
        init.he_uniform()([]),
        init.lecun_normal()([2, 2]),
        init.lecun_uniform()(tf.TensorShape([2, 2])),
    ]
    for mode in ("fan_in", "fan_out", "fan_avg"):
        for kind in ("uniform", "untruncated_normal", "normal"):
            made.append(tf.variance_scaling_initializer(2.0, mode, kind)([2, 3, 4]))
    return made


def matrices(tf):
    square = tf.constant([[4.0, 1.0], [1.0, 3.0]])
    tall = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.name_scope("linalg"):
        return [
            tf.eye(2),
            tf.eye(2, 3, batch_shape=[2]),
            tf.eye(tf.constant(3), batch_shape=[2]),
            tf.matrix_diag([1.0, 2.0]),
            tf.matrix_diag_part(tall),
            tf.matrix_set_diag(tall, [8.0, 9.0]),
            tf.diag([1.0, 2.0]),
            tf.diag_part(square),
            tf.matrix_band_part(tall, 0, 1),
            tf.cholesky(square),
            tf.matrix_inverse(square),
            tf.matrix_determinant(square),
            tf.matrix_solve(square, [[1.0], [2.0]]),
            tf.matrix_triangular_solve(square, [[1.0], [2.0]], lower=False),
            tf.cholesky_solve(tf.cholesky(square), [[1.0], [2.0]]),
            tf.qr(tall)[1],
            tf.svd(tall, compute_uv=False),
            tf.self_adjoint_eig(square)[0],
            tf.self_adjoint_eigvals(square),
            tf.linalg.logdet(square),
            tf.linalg.slogdet(square)[1],
            tf.linalg.adjoint(tall),
            tf.linalg.lstsq(tall, [[1.0], [2.0], [4.0]]),
            tf.matrix_solve_ls(tall, [[1.0], [2.0], [4.0]], 0.5),
            tf.linalg.lstsq(tf.transpose(tall), [[1.0], [2.0]], fast=False),
        ]


def norms(tf):
    x = tf.constant([[3.0, -4.0], [6.0, 8.0]])
    return [
        tf.norm(x),
        tf.norm(x, axis=1),
        tf.norm(x, ord=1, axis=0, keepdims=True),
        tf.norm(x, ord=float("inf")),
        tf.norm(x, ord=3, axis=-1),
        tf.norm(x, ord="fro", axis=[0, 1]),
        tf.norm(x, ord=1, axis=(0, 1)),
        tf.norm(x, ord=float("inf"), axis=(0, 1), keep_dims=True),
    ]


PROGRAMS = [uniform, normal, others, stateless, seeds, initializers, matrices, norms]


def ops_of(graph):
    """Name, type, inputs and seeds of every op of a graph."""
    rows = []
    for op in graph.get_operations():
        row = [op.name, op.type, [t.name for t in op.inputs], [c.name for c in op.control_inputs]]
        drawn = op.type in _SEEDED
        rows.append([*row, [op.get_attr("seed"), op.get_attr("seed2")]] if drawn else row)
    return rows


_SEEDED = {
    "RandomUniform", "RandomUniformInt", "RandomStandardNormal", "TruncatedNormal",
    "RandomShuffle", "Multinomial", "RandomGamma", "RandomPoissonV2",
}  # fmt: skip


def outcome(tf, program, config=None):
    """The ops and the values of two steps."""
    graph = tf.Graph()
    with graph.as_default():
        fetches = program(tf)
        ops = ops_of(graph)
        with tf.Session(config=config) as session:
            steps = [session.run(fetches) for _ in range(2)]
    values = [
        [{"dtype": v.dtype.name, "shape": list(v.shape), "data": v.ravel().tolist()} for v in step]
        for step in steps
    ]
    return {"ops": ops, "steps": values}


def main():
    tf = importlib.import_module(os.environ["TF"]).compat.v1
    config = tf.ConfigProto()  # its optimiser divides by a constant less precisely
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    lines = [
        f'"{program.__name__}": {json.dumps(outcome(tf, program, config))}' for program in PROGRAMS
    ]
    sys.stdout.write("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
