"""Walks the table of ops: every op has cases (or a reason why not), and every case is checked.

Checked are the static shape (with all known, with unknown sizes and with unknown rank) against the
result's, the types of the outputs for every type that the op takes, the gradient against finite
differences, and the values against those that TensorFlow 1.15 gave (recorded.py).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import minitf as tf
from minitf.convert import const_of, dtype_of
from minitf.gradients.registry import all_gradients
from minitf.graph import Graph
from minitf.ops.apply import make_op
from minitf_runtime.ops.registry import OPS, REQUIRED, OpDef, find_kernel
from minitf_runtime.types import DTYPES, DType, merge_shapes
from ops.cases import Case, every
from ops.recorded import results_of

GRADIENTS = all_gradients()
CASES: dict[str, list[Case]] = every("CASES")
EXEMPT: dict[str, str] = every("EXEMPT")
NUMERIC = tuple(t for t in DTYPES if t.is_floating or t.is_integer or t.is_complex)


def cases_for(check: str) -> list[Any]:
    return [
        pytest.param(name, i, id=f"{name}-{i}")
        for name, cases in CASES.items()
        for i, case in enumerate(cases)
        if check not in case.skipped
    ]


def flat(inputs: Any) -> list[Any]:
    return [x for value in inputs for x in (value if isinstance(value, list) else [value])]


def nested(case: Case, values: list[Any]) -> list[Any]:
    """Flat values in the form of the case's inputs."""
    left = iter(values)
    return [[next(left) for _ in v] if isinstance(v, list) else next(left) for v in case.inputs]


def made(name: str, case: Case, inputs: list[Any]) -> Any:
    """The op of a case, of these flat tensors."""
    return make_op(name, *nested(case, inputs), **case.attrs)


def run(op: Any, feeds: Any = None) -> list[Any]:
    with tf.Session(graph=op.graph) as session:
        return session.run(op.outputs, feeds)


# ---- nothing is forgotten


def test_every_op_has_cases():
    forgotten = {name for name in OPS if not name.startswith("_")} - CASES.keys() - EXEMPT.keys()
    assert sorted(forgotten) == [], "add cases to tests/ops/cases, or a reason to EXEMPT"


def test_no_case_without_an_op():
    assert sorted((CASES.keys() | EXEMPT.keys()) - OPS.keys()) == []
    assert sorted(CASES.keys() & EXEMPT.keys()) == []


# ---- shapes


@pytest.mark.parametrize(("name", "i"), cases_for("full shape"))
def test_static_shape_is_the_real_one(name, i):
    case = CASES[name][i]
    with Graph().as_default():
        op = made(name, case, [const_of(x) for x in flat(case.inputs)])
        results = run(op)
    assert [t.shape.as_list() for t in op.outputs] == [list(np.shape(r)) for r in results]


@pytest.mark.parametrize(("name", "i"), cases_for("unknown shape"))
def test_static_shape_allows_the_real_one(name, i):
    case = CASES[name][i]
    arrays = flat(case.inputs)
    for shape_of in (lambda x: (None,) * x.ndim, lambda x: None):
        with Graph().as_default():
            fed = [tf.placeholder(dtype_of(x), shape_of(x)) for x in arrays]
            op = made(name, case, fed)
            results = run(op, dict(zip(fed, arrays)))
        for tensor, result in zip(op.outputs, results):
            merge_shapes(tensor._shape, np.shape(result))


# ---- types


def free_types(opdef: OpDef, case: Case) -> Iterator[dict[str, DType]]:
    """The types that the case's free inputs may have, one type attribute at a time."""
    keys = {key for key, free in zip(type_attrs(opdef, case), case.free) if free and key}
    for key in sorted(keys):
        for dtype in opdef.attrs[key].allowed or NUMERIC:
            yield {key: dtype}


def type_attrs(opdef: OpDef, case: Case) -> list[str]:
    """The type attribute of each flat input."""
    out = []
    for arg, value in zip(opdef.inputs, case.inputs):
        out += [arg.type_attr] * (len(value) if isinstance(value, list) else 1)
    return out


def as_type(x: Any, dtype: DType) -> Any:
    """The values in another type; positive where whole numbers are wanted."""
    if dtype.is_integer:
        x = np.rint(np.abs(x) * 3) + 1
    return x.astype(dtype.as_numpy_dtype)


@pytest.mark.parametrize("name", [n for n, cs in CASES.items() if "types" not in cs[0].skipped])
def test_outputs_have_the_declared_types(name):
    case, opdef = CASES[name][0], OPS[name]
    arrays = flat(case.inputs)
    with Graph().as_default():
        tensors = list(made(name, case, [const_of(x) for x in arrays]).outputs)
        for types in free_types(opdef, case):
            defaults = {k: a.default for k, a in opdef.attrs.items() if a.default is not REQUIRED}
            if find_kernel(name, {**defaults, **case.attrs, **types}, "CPU") is None:
                continue
            cast = [
                as_type(x, types[key]) if free and key in types else x
                for x, key, free in zip(arrays, type_attrs(opdef, case), case.free)
            ]
            tensors += made(name, case, [const_of(x) for x in cast]).outputs
        with tf.Session() as session:
            results = session.run(tensors)
    wrong = [
        (t.dtype, r.dtype)
        for t, r in zip(tensors, results)
        if t.dtype is not tf.string and r.dtype != t.dtype.as_numpy_dtype
    ]
    assert wrong == []


# ---- gradients


@pytest.mark.parametrize(
    ("name", "i"), [p for p in cases_for("gradient") if all_gradients().get(p.values[0])]
)
def test_gradient_is_the_slope(name, i):
    case, opdef = CASES[name][i], OPS[name]
    keys = type_attrs(opdef, case)
    wide = [
        not key or not opdef.attrs[key].allowed or tf.float64 in opdef.attrs[key].allowed
        for key in keys
    ]
    places = [j for j, x in enumerate(flat(case.inputs)) if x.dtype.kind == "f"]
    if not places:
        return
    double = all(w for j, w in enumerate(wide) if j in places) and any(case.free)
    arrays = [
        x.astype(np.float64) if double and free else x
        for x, free in zip(flat(case.inputs), case.free)
    ]
    with Graph().as_default():
        tensors = [
            tf.placeholder(dtype_of(x), x.shape) if j in places else const_of(x)
            for j, x in enumerate(arrays)
        ]
        loss = weighted_sum(made(name, case, tensors))
        if loss is None:
            return
        fed = [tensors[j] for j in places]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # sparse gradients are made dense
            found = [
                None if g is None else tf.convert_to_tensor(g) for g in tf.gradients(loss, fed)
            ]
        step, tolerance = (1e-6, 1e-5) if double else (1e-2, 2e-2)
        with tf.Session() as session:
            call = session.make_callable(loss, fed)
            values = [arrays[j] for j in places]
            slopes = [slope(call, values, k, step) for k in range(len(values))]
            known = session.run([g for g in found if g is not None], dict(zip(fed, values)))
    left = iter(known)
    for j, g, expected in zip(places, found, slopes):
        if j in case.flat_in:
            assert g is None
            continue
        actual = np.zeros_like(expected) if g is None else next(left)
        np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)


def weighted_sum(op: Any) -> Any:
    """A scalar that depends on every real number in the outputs; None if there is none."""
    total = []
    for tensor in op.outputs:
        parts = [tf.real(tensor), tf.imag(tensor)] if tensor.dtype.is_complex else [tensor]
        for part in parts if tensor.dtype.is_floating or tensor.dtype.is_complex else ():
            places = tf.cast(tf.range(tf.size(part)) + len(total), part.dtype)
            weights = tf.reshape(tf.cos(places), tf.shape(part))
            total.append(tf.reduce_sum(part * weights))
    return tf.add_n(total) if total else None


def slope(call: Any, values: list[Any], k: int, step: float) -> Any:
    """The slope of call(*values) in each element of values[k], by central differences."""
    out = np.zeros(values[k].shape)
    for at in np.ndindex(out.shape):
        ends = []
        for side in (step, -step):
            moved = values[k].copy()
            moved[at] += side
            ends.append(float(call(*values[:k], moved, *values[k + 1 :])))
        out[at] = (ends[0] - ends[1]) / (2 * step)
    return out


# ---- values


@pytest.mark.parametrize(("name", "i"), cases_for("recorded"))
def test_values_are_those_of_tensorflow(name, i):
    case = CASES[name][i]
    expected = results_of(name, i, flat(case.inputs))
    if expected is None:
        pytest.skip("not recorded")
    with Graph().as_default():
        results = run(made(name, case, [const_of(x) for x in flat(case.inputs)]))
    for actual, wanted in zip(results, expected):
        assert np.shape(actual) == wanted.shape
        if wanted.dtype.kind in "fc":
            np.testing.assert_allclose(actual, wanted, rtol=2e-5, atol=1e-6)
        else:
            np.testing.assert_array_equal(actual, wanted)
