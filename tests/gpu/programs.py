"""Small programs for the ops that mean nothing alone: on variables, TensorArrays, in control flow.

Each is built with its ops on GPU:0 and gives what is fetched. What it copies in a step is said
beside it: `up` to the device, `down` from it. All else stays on its side.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import minitf as tf
from data.updates.record import cases as update_cases
from minitf_runtime.devices.gpu_kernels import host_arguments

raw = tf.raw_ops
TABLE = np.linspace(0.1, 1.8, 8, dtype=np.float32).reshape(4, 2)
GPU, CPU = "/gpu:0", "/cpu:0"


class Program(NamedTuple):
    """What is fetched, the ops that it is there for, and the copies of one step."""

    build: Callable[[], list[Any]]
    ops: frozenset[str]
    up: int
    down: int


PROGRAMS: dict[str, Program] = {}


def program(ops: str, up: int = 0, down: int = 1) -> Callable[[Any], Any]:
    def add(build: Callable[[], Any]) -> Callable[[], Any]:
        PROGRAMS[build.__name__] = Program(build, frozenset(ops.split()), up, down)
        return build

    return add


# ---- variables


def reference(name: str = "ref", start: Any = TABLE) -> Any:
    return tf.Variable(start, name=name, use_resource=False)


def handle(name: str = "resource", start: Any = TABLE) -> Any:
    return tf.Variable(start, name=name, use_resource=True)


@program("VariableV2 Assign AssignAdd AssignSub Const")
def references():
    v = reference()
    with tf.control_dependencies([tf.assign(v, TABLE * 2)]):
        added = tf.assign_add(v, TABLE)
    with tf.control_dependencies([added]):
        taken = tf.assign_sub(v, TABLE / 2)
    return [tf.identity(taken)]


@program("Variable NoOp", down=1)
def old_variable():
    v = raw.Variable(shape=[2], dtype=tf.float32)
    with tf.control_dependencies([tf.group(tf.assign(v, [1.0, 2.0], validate_shape=False))]):
        return [tf.identity(v) + 1]


@program("VarHandleOp AssignVariableOp AssignAddVariableOp AssignSubVariableOp ReadVariableOp")
def handles():
    v = handle()
    with tf.control_dependencies([v.assign(TABLE * 2, read_value=False)]):
        added = v.assign_add(TABLE, read_value=False)
    with tf.control_dependencies([added]):
        taken = v.assign_sub(TABLE / 2, read_value=False)
    with tf.control_dependencies([taken]):
        return [v.read_value()]


@program("IsVariableInitialized VarIsInitializedOp VariableShape", down=0)
def told_of_variables():
    r, h = reference(), handle()
    return [
        raw.IsVariableInitialized(ref=r._ref()),
        raw.VarIsInitializedOp(resource=h.handle),
        raw.VariableShape(input=h.handle),
    ]


@program("DestroyResourceOp", down=0)
def destroyed():
    made = raw.VarHandleOp(dtype=tf.float32, shape=[2], shared_name="short_lived")
    with tf.control_dependencies([raw.AssignVariableOp(resource=made, value=[1.0, 2.0])]):
        gone = raw.DestroyResourceOp(resource=made)
    with tf.control_dependencies([gone]):
        return [raw.VarIsInitializedOp(resource=made)]


@program("TemporaryVariable DestroyTemporaryVariable")
def temporary():
    t = raw.TemporaryVariable(shape=[2], dtype=tf.float32, var_name="temporary")
    filled = tf.assign(t, [3.0, 4.0])
    return [raw.DestroyTemporaryVariable(ref=filled, var_name="temporary")]


@program("ResourceGather ResourceGatherNd", up=2, down=2)
def gathered():
    """An int32 Const is in host memory, and the indices are wanted on the device."""
    v = handle()
    return [
        raw.ResourceGather(resource=v.handle, indices=[3, 0], dtype=tf.float32),
        raw.ResourceGatherNd(resource=v.handle, indices=[[3, 1], [0, 0]], dtype=tf.float32),
    ]


@program("StridedSliceAssign ResourceStridedSliceAssign", down=2)
def assigned_by_slices():
    r, h = reference(), handle()
    place = dict(begin=[1, 0], end=[3, 1], strides=[1, 1], value=[[5.0], [6.0]])
    with tf.control_dependencies([raw.ResourceStridedSliceAssign(ref=h.handle, **place)]):
        later = h.read_value()
    return [tf.identity(raw.StridedSliceAssign(ref=r._ref(), **place)), later]


# ---- updates: the cases of tests/data/updates


def add_updates() -> None:
    for _, op, starts, values, attrs in update_cases():
        if host_arguments(op, {}) is None or op in PROGRAMS:
            continue
        if op.endswith("Update"):  # which of two values for one place stays is not said on a GPU
            values = {**values, "indices": without_repeats(values["indices"], "Nd" in op)}

        def build(op=op, starts=starts, values=values, attrs=attrs):
            by_handle = op.startswith("Resource")
            make = handle if by_handle else reference
            cells = {k: make(k, start.astype("f")) for k, start in starts.items()}
            given = {
                k: tf.constant(x.astype("f") if x.dtype.kind == "f" else x)
                for k, x in values.items()
            }
            taken = {k: v.handle if by_handle else v._ref() for k, v in cells.items()}
            done = getattr(raw, op)(**taken, **given, **attrs)
            with tf.control_dependencies([getattr(done, "op", done)]):
                return [v.read_value() for v in cells.values()]

        PROGRAMS[op] = Program(build, frozenset([op]), 0, len(starts))


def without_repeats(indices: Any, rows: bool) -> Any:
    """As many places, all different."""
    shape = np.shape(indices)
    if not rows:
        return np.arange(np.size(indices)).reshape(shape)
    out = np.zeros(shape, np.int64)
    out[..., 0] = np.arange(out[..., 0].size).reshape(shape[:-1])
    return out


add_updates()


# ---- TensorArrays


@program(
    """
    TensorArrayV3 TensorArrayWriteV3 TensorArrayReadV3 TensorArrayGatherV3 TensorArrayScatterV3
    TensorArrayConcatV3 TensorArraySplitV3 TensorArraySizeV3 TensorArrayGradV3
    """,
    up=1,
    down=6,
)
def tensor_arrays():
    """Sizes of parts are cast to int64 on the device, and wanted in host memory."""
    x = tf.constant(TABLE)
    written = tf.TensorArray(tf.float32, 2, clear_after_read=False).write(0, x).write(1, x * 2)
    spread = tf.TensorArray(tf.float32, 4, clear_after_read=False).unstack(x)
    cut = tf.TensorArray(tf.float32, 2, infer_shape=False).split(x, [1, 3])
    total = spread.gather([2, 0])
    return [
        written.read(1),
        total,
        cut.concat(),
        written.size(),
        tf.gradients(total * total, x)[0],
        tf.gradients(written.stack(), x)[0],
    ]


@program("TensorArrayCloseV3", down=1)
def closed_tensor_array():
    array = tf.TensorArray(tf.float32, 1).write(0, TABLE)
    value = array.stack()
    with tf.control_dependencies([value]):
        closed = array.close()
    with tf.control_dependencies([closed]):
        return [tf.identity(value)]


# ---- control flow


def yes() -> Any:
    """True, in host memory."""
    return tf.less(tf.constant(1), tf.placeholder_with_default(np.int32(2), []))


@program("Switch Merge", up=1, down=1)
def branch():
    x = tf.placeholder(tf.float32, [4, 2])
    return [tf.cond(yes(), lambda: x * 2, lambda: x - 1)], {x: TABLE}


@program("RefSwitch RefMerge")
def branch_by_reference():
    v = reference()
    no, taken = raw.RefSwitch(data=v._ref(), pred=yes())
    merged, _ = raw.RefMerge(inputs=[no, taken])
    return [tf.identity(merged) * 2]


@program("Enter Exit NextIteration LoopCond StackV2 StackPushV2 StackPopV2 ControlTrigger", down=2)
def loop_with_gradient():
    x = tf.constant(TABLE)
    _, y = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * v * x), [0, x])
    return [y, tf.gradients(y, x)[0]]


@program("RefEnter RefIdentity RefNextIteration RefExit")
def loop_by_reference():
    left = tf.while_loop(
        lambda i, ref: i < 3,
        lambda i, ref: (i + 1, tf.assign(ref, TABLE * 2)),
        [0, reference()._ref()],
    )
    return [tf.identity(left[1])]


@program("StackCloseV2", down=0)
def closed_stack():
    stack = raw.StackV2(max_size=2, elem_type=tf.float32)
    with tf.control_dependencies([raw.StackPushV2(handle=stack, elem=TABLE)]):
        closed = raw.StackCloseV2(handle=stack)
    with tf.control_dependencies([closed]):
        return [tf.constant(1)]


# ---- checks and random numbers


@program("Assert", down=2)
def assertion():
    """What it would print is in host memory."""
    x = tf.constant(TABLE)
    with tf.device(CPU):
        text = tf.constant("as it should be")
    with tf.control_dependencies([raw.Assert(condition=yes(), data=[x, text])]):
        return [x + 1]


@program("RandomUniform RandomStandardNormal TruncatedNormal RandomUniformInt Multinomial", down=6)
def random_numbers():
    """The probabilities are wanted in host memory: NumPy draws, and what it drew is brought up."""
    return [
        tf.random_uniform([3, 5], seed=1),
        tf.random_normal([11], seed=2),
        tf.truncated_normal([2, 9], seed=3),
        tf.random_uniform([7], maxval=100, dtype=tf.int32, seed=4),
        tf.multinomial(tf.constant([[-0.5, 0.8], [0.2, 0.5]]), 6, seed=5),
    ]
