"""What each optimizer builds and computes. With a real TensorFlow 1.15:

    TF=tensorflow python record.py | gzip -9n > runs.json.gz

Each case is one optimizer on a dense or a sparse gradient of a reference or a resource variable:
the nodes of the graph, and the variables after each of three steps.
"""

import importlib
import json
import os
from itertools import product

import numpy as np

STEPS = 3
OPTIMIZERS = {
    "sgd": lambda t, step: t.GradientDescentOptimizer(0.1),
    "momentum": lambda t, step: t.MomentumOptimizer(0.1, 0.9),
    "nesterov": lambda t, step: t.MomentumOptimizer(0.1, 0.9, use_nesterov=True, name="Nesterov"),
    "adagrad": lambda t, step: t.AdagradOptimizer(0.3, initial_accumulator_value=0.2),
    "adagrad_da": lambda t, step: t.AdagradDAOptimizer(
        0.3, step, l1_regularization_strength=0.01, l2_regularization_strength=0.1
    ),
    "adadelta": lambda t, step: t.AdadeltaOptimizer(1.0, 0.9, 1e-2),
    "adam": lambda t, step: t.AdamOptimizer(0.1),
    "rmsprop": lambda t, step: t.RMSPropOptimizer(0.1, momentum=0.5),
    "rmsprop_centered": lambda t, step: t.RMSPropOptimizer(
        0.1, decay=0.8, epsilon=1e-3, centered=True
    ),
    "ftrl": lambda t, step: t.FtrlOptimizer(
        0.5, l1_regularization_strength=0.05, l2_regularization_strength=0.1
    ),
    "ftrl_power": lambda t, step: t.FtrlOptimizer(0.5, learning_rate_power=-0.7),
    "ftrl_shrinkage": lambda t, step: t.FtrlOptimizer(
        0.5, l1_regularization_strength=0.01, l2_shrinkage_regularization_strength=0.2
    ),
    "proximal_sgd": lambda t, step: t.ProximalGradientDescentOptimizer(0.1, 0.05, 0.1),
    "proximal_adagrad": lambda t, step: t.ProximalAdagradOptimizer(0.3, 0.2, 0.05, 0.1),
}
FORMS = [f"{g}_{v}" for g, v in product(("dense", "sparse"), ("ref", "resource"))]


def build(tf, optimizer, form):
    """The loss and its train op; the ids that a sparse gradient touches are fed."""
    gradient, kind = form.split("_")
    start = (np.arange(12, dtype="f").reshape(4, 3) - 5) / 10
    w = tf.get_variable("w", initializer=start, use_resource=kind == "resource")
    ids = tf.placeholder(tf.int32, [3], name="ids")
    step = tf.train.get_or_create_global_step()
    rows = tf.gather(w, ids, name="rows") if gradient == "sparse" else tf.identity(w, name="all")
    loss = tf.reduce_sum(tf.square(rows - 0.25), name="loss")
    train = OPTIMIZERS[optimizer](tf.train, step).minimize(loss, global_step=step)
    return ids, train


def describe(op):
    groups = [g.decode() for g in op.colocation_groups() if g.decode() != "loc:@" + op.name]
    data = " ".join(t.name for t in op.inputs)
    after = " ".join(sorted("^" + c.name for c in op.control_inputs))
    return " | ".join([op.name, op.type, data, after, " ".join(groups)])


def run(tf, optimizer, form):
    """Nodes of the graph, and each variable by name after each step."""
    with tf.Graph().as_default() as graph:
        ids, train = build(tf, optimizer, form)
        init = tf.global_variables_initializer()
        variables = tf.global_variables()
        after = []
        with tf.Session(graph=graph) as session:
            session.run(init)
            for k in range(STEPS):
                session.run(train, {ids: [k, 3, k]})
                values = session.run(variables)
                after.append({v.name: np.asarray(x).tolist() for v, x in zip(variables, values)})
        return {"nodes": [describe(op) for op in graph.get_operations()], "after": after}


def main():
    tf = importlib.import_module(os.environ["TF"])
    cases = product(OPTIMIZERS, FORMS)
    print(json.dumps({f"{o} {f}": run(tf, o, f) for o, f in cases}, sort_keys=True))


if __name__ == "__main__":
    main()
