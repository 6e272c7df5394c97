"""Ops that update variables, run one at a time. With a real TensorFlow 1.15:

    TF=tensorflow python record.py | gzip -9n > results.json.gz

A case is an op with the values of its variables and of its other inputs; recorded are the variables
after two runs. Each case is run by reference and by handle where there are both forms.
"""

import importlib
import json
import os

import numpy as np


def table(start, *shape):
    size = int(np.prod(shape, dtype=int))
    return (np.linspace(start, start + 1.7, size) if size else np.zeros(0)).reshape(shape)


SCALARS = dict(
    alpha=0.3, lr=0.3, l1=0.05, l2=0.1, l2_shrinkage=0.2, lr_power=-0.5, rho=0.9, momentum=0.8,
    epsilon=1e-3, beta1=0.9, beta2=0.99, beta1_power=0.81, beta2_power=0.97, beta=0.9,
    logbase=0.7, sign_decay=0.6,
)  # fmt: skip

# rule: variables, inputs in the order of the signature
DENSE = {
    "GradientDescent": ("var", "alpha delta"),
    "Momentum": ("var accum", "lr grad momentum"),
    "Adagrad": ("var accum", "lr grad"),
    "AdagradDA": (
        "var gradient_accumulator gradient_squared_accumulator", "grad lr l1 l2 global_step",
    ),
    "Adadelta": ("var accum accum_update", "lr rho epsilon grad"),
    "Adam": ("var m v", "beta1_power beta2_power lr beta1 beta2 epsilon grad"),
    "AdaMax": ("var m v", "beta1_power lr beta1 beta2 epsilon grad"),
    "RMSProp": ("var ms mom", "lr rho momentum epsilon grad"),
    "CenteredRMSProp": ("var mg ms mom", "lr rho momentum epsilon grad"),
    "Ftrl": ("var accum linear", "grad lr l1 l2 lr_power"),
    "FtrlV2": ("var accum linear", "grad lr l1 l2 l2_shrinkage lr_power"),
    "ProximalGradientDescent": ("var", "alpha l1 l2 delta"),
    "ProximalAdagrad": ("var accum", "lr l1 l2 grad"),
    "AddSign": ("var m", "lr alpha sign_decay beta grad"),
    "PowerSign": ("var m", "lr logbase sign_decay beta grad"),
    "AdagradV2": ("var accum", "lr epsilon grad"),
}  # fmt: skip
ONLY_RESOURCE = {
    "KerasMomentum": ("var accum", "lr grad momentum"),
    "AdamWithAmsgrad": ("var m v vhat", "beta1_power beta2_power lr beta1 beta2 epsilon grad"),
}
SPARSE = {
    **{k: v for k, v in DENSE.items() if k not in (
        "GradientDescent", "Adam", "AdaMax", "AddSign", "PowerSign")},
    "ProximalGradientDescent": ("var", "alpha l1 l2 grad"),
}  # fmt: skip
VARIANTS = {
    "Momentum": [{}, {"use_nesterov": True}],
    "KerasMomentum": [{}, {"use_nesterov": True}],
    "Adam": [{}, {"use_nesterov": True}],
    "Adagrad": [{}, {"update_slots": False}],
    "Ftrl": [{}, {"lr_power": -0.7}],
    "ProximalAdagrad": [{}, {"l1": 0.0}],
}
FORMS = ("Apply", "ResourceApply", "SparseApply", "ResourceSparseApply")


def cases():
    """(label, op, {variable: value}, {input: value}, attributes)"""
    for form in FORMS:
        rules = dict(SPARSE if "Sparse" in form else DENSE)
        if form != "Apply" and form != "SparseApply":
            rules["KerasMomentum"] = ONLY_RESOURCE["KerasMomentum"]
        if form == "ResourceApply":
            rules.update(ONLY_RESOURCE)
        for rule, (cells, inputs) in sorted(rules.items()):
            for i, variant in enumerate(VARIANTS.get(rule, [{}])):
                yield apply_case(form, rule, cells, inputs, variant, i)
    for case in scatter_cases():
        yield case
    for case in scatter_nd_cases():
        yield case


def apply_case(form, rule, cells, inputs, variant, i):
    values, attrs = {}, {}
    for name in inputs.split():
        if name in ("grad", "delta"):
            values[name] = table(-0.8, 3, 2) if "Sparse" in form else table(-0.8, 4, 2)
        elif name == "global_step":
            values[name] = np.array(3, np.int64)
        else:
            values[name] = np.array(SCALARS[name])
    if "Sparse" in form:
        values["indices"] = np.array([3, 0, 3])
    for key, value in variant.items():
        (values if key in values else attrs)[key] = np.array(value) if key in values else value
    starts = {name: table(0.1 + 0.2 * k, 4, 2) for k, name in enumerate(cells.split())}
    return "%s%s %d" % (form, rule, i), form + rule, starts, values, attrs


def scatter_cases():
    indices = np.array([[2, 0], [2, 3]])
    for how in ("Update", "Add", "Sub", "Mul", "Div", "Min", "Max"):
        for form, own in (("", "ref"), ("Resource", "resource")):
            op = "%sScatter%s" % (form, how)
            for i, updates in enumerate((table(0.5, 2, 2, 2), np.array(1.5))):
                yield (
                    "%s %d" % (op, i),
                    op,
                    {own: table(0.1, 4, 2)},
                    dict(indices=indices, updates=updates),
                    {},
                )


def scatter_nd_cases():
    for how in ("Update", "Add", "Sub"):
        for op in ("ScatterNd" + how, "ResourceScatterNd" + how):
            for i, (indices, updates) in enumerate(
                [
                    ([[1], [3], [1]], table(0.5, 3, 2)),
                    ([[1, 0], [3, 1]], table(0.5, 2)),
                    ([[[0, 0]], [[2, 1]]], table(0.5, 2, 1)),
                ]
            ):
                yield (
                    "%s %d" % (op, i),
                    op,
                    {"ref": table(0.1, 4, 2)},
                    dict(indices=np.array(indices), updates=updates),
                    {},
                )


def run(tf, raw_ops, case):
    """The variables after each of two runs of the op."""
    _, op, starts, values, attrs = case
    with tf.Graph().as_default() as graph:
        by_handle = op.startswith("Resource")
        cells = {
            name: tf.Variable(start.astype("f"), name=name, use_resource=by_handle)
            for name, start in starts.items()
        }
        given = {
            name: tf.constant(value.astype("f") if value.dtype.kind == "f" else value)
            for name, value in values.items()
        }
        taken = {name: v.handle if by_handle else v._ref() for name, v in cells.items()}
        update = getattr(raw_ops, op)(**taken, **given, **attrs)
        update = getattr(update, "op", update)
        out = []
        with tf.Session(graph=graph) as session:
            session.run(tf.global_variables_initializer())
            for _ in range(2):
                session.run(update)
                out.append({k: np.asarray(v).tolist() for k, v in session.run(cells).items()})
        return out


def main():
    tf = importlib.import_module(os.environ["TF"])
    done = {case[0]: run(tf, tf.raw_ops, case) for case in cases()}
    print(json.dumps(done, sort_keys=True))


if __name__ == "__main__":
    main()
