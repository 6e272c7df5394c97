"""Variables, scopes and the device setter. With a real TensorFlow 1.15:

PYTHONPATH=../.. TF=tensorflow python record.py > graphs.json.gz
"""

import numpy as np

from recording import main, names, outcome


def ref_variables(tf):
    with tf.device("/job:ps/task:0"):
        a = tf.Variable(1.0, name="a")
    b = tf.Variable(lambda: tf.ones([2]), name="b", dtype=tf.float32)
    c = tf.Variable(5, name="a", trainable=False)
    d = tf.Variable([1.0, 2.0], caching_device="/cpu:1", collections=["mine"])
    yield from (repr(v) for v in (a, b, c, d))
    yield names(tf.global_variables())
    yield names(tf.trainable_variables())
    yield "%s %s %s" % (a.dtype, a.initial_value.name, a.initializer.name)
    yield tf.assign(a, 3.0)
    yield b.assign_add([1.0, 1.0], read_value=False).name
    yield a.read_value()
    yield b.scatter_add(tf.IndexedSlices(tf.constant([1.0]), tf.constant([0])))
    yield b[1].assign(3.0)
    yield tf.scatter_nd_add(b, [[0]], [1.0])
    yield c.count_up_to(7)
    yield -a + 1 - b * 2
    yield 2.0 / b
    yield tf.is_variable_initialized(a)
    yield a.initialized_value()
    yield tf.assert_variables_initialized()


def resource_variables(tf):
    with tf.device("/job:ps/task:0"):
        a = tf.Variable([1.0, 2.0], name="a", use_resource=True)
    b = tf.Variable(lambda: tf.ones([2]), name="b", dtype=tf.float32, use_resource=True)
    c = tf.Variable([1.0, 2.0], use_resource=True, caching_device="/cpu:1", trainable=False)
    n = tf.Variable(3, use_resource=True, name="n")
    yield from (repr(v) for v in (a, b, c, n))
    yield names(tf.trainable_variables())
    yield "%s %s %s" % (a.dtype, a.initial_value.name, a.initializer.name)
    update = a.assign([1.0, 1.0])
    yield "%s %s" % (update, update.op.name)
    yield a + update
    yield c.assign_add([1.0, 1.0]).name
    yield c.assign_sub([1.0, 1.0], read_value=False).name
    yield a.read_value()
    yield a.sparse_read([0])
    yield a.gather_nd([[1]])
    yield a[1].assign(3.0)
    yield tf.scatter_update(a, [0], [3.0])
    yield a.scatter_sub(tf.IndexedSlices(tf.constant([1.0]), tf.constant([0])))
    yield a.scatter_nd_update([[0]], [1.0])
    yield n.count_up_to(7)
    yield tf.is_variable_initialized(a)
    yield outcome(lambda: a.assign([1.0, 2.0, 3.0]))
    with tf.control_dependencies([update]):
        yield tf.no_op().name
    with tf.colocate_with(update):
        yield tf.no_op().name


def initial_values(tf):
    """Initial values that depend on other variables use those variables' initial values."""
    with tf.device("/job:ps/task:0"):
        a = tf.Variable(1.0, name="a")
    with tf.device("/job:w"):
        tf.Variable(a * 2, name="twice")
    r = tf.Variable([1.0], name="r", use_resource=True)
    tf.Variable(r + 1, name="next", use_resource=True)
    with tf.control_dependencies([a.op]):
        tf.Variable(2.0, name="free")
    yield outcome(lambda: tf.Variable(None))
    yield outcome(lambda: tf.Variable(1.0, collections=3))
    yield outcome(lambda: tf.Variable(1.0, synchronization=9))
    yield outcome(lambda: tf.Variable(1.0, aggregation=9))
    yield outcome(lambda: tf.Variable(tf.placeholder(tf.float32), validate_shape=False).shape)
    yield tf.report_uninitialized_variables()
    yield tf.report_uninitialized_variables([a], name="some")
    yield tf.report_uninitialized_variables([])
    yield tf.global_variables_initializer().name
    yield tf.local_variables_initializer().name
    yield tf.variables_initializer([a], name="one").name


def scopes(tf):
    zeros = tf.zeros_initializer()
    with tf.variable_scope("foo") as foo:
        v = tf.get_variable("v", [2, 3], initializer=zeros)
        yield outcome(lambda: tf.get_variable("v", [2, 3]))
        with tf.variable_scope("bar", reuse=tf.AUTO_REUSE):
            w = tf.get_variable("w", initializer=tf.constant(3.0))
            yield outcome(lambda: tf.get_variable("w", shape=[2], initializer=tf.constant(3.0)))
            yield tf.get_variable("w") is w
            yield outcome(lambda: tf.get_variable("w", dtype=tf.int32))
            yield outcome(lambda: tf.get_variable("w", [2]))
        yield tf.constant(1.0)
    with tf.variable_scope("foo", reuse=True):
        yield tf.get_variable("v") is v
        yield outcome(lambda: tf.get_variable("absent", [1]))
        yield tf.constant(1.0)
    with tf.variable_scope(foo) as again:
        yield "%s %s %s" % (again.name, again.original_name_scope, again.reuse)
        with tf.variable_scope("in", initializer=tf.constant_initializer(2.0), dtype=tf.float64):
            x = tf.get_variable("x", [2])
            yield x
            with tf.variable_scope(foo, auxiliary_name_scope=False):
                yield tf.constant(2.0)
    for _ in range(2):
        with tf.variable_scope(None, "unique", [v]) as s:
            yield "%s %s" % (s.name, s.original_name_scope)
            with tf.variable_scope("inner"):
                yield tf.get_variable("y", [], initializer=zeros)
    with tf.name_scope("ns"):
        yield tf.get_variable("z", [], initializer=zeros, use_resource=True)
        yield tf.Variable(1.0, name="z")
        with tf.variable_scope("vs"):
            yield tf.get_variable("z", [], initializer=zeros, trainable=False, collections=["k"])
            yield tf.Variable(1.0, name="z").op.name
    with tf.variable_scope("", use_resource=True):
        yield tf.Variable(1.0, name="root")
    yield tf.get_local_variable("local", [2], initializer=zeros)
    yield names(tf.global_variables("foo"))
    yield names(foo.global_variables())
    yield names(foo.trainable_variables())
    yield names(tf.local_variables())
    tf.get_variable_scope().reuse_variables()
    yield outcome(lambda: tf.get_variable("late", [1]))


def scope_arguments(tf):
    yield outcome(lambda: tf.variable_scope(None))
    yield outcome(lambda: tf.variable_scope("a", reuse="yes"))
    yield outcome(lambda: tf.get_variable("i", dtype=tf.float32, initializer=tf.constant(1)))
    yield outcome(lambda: tf.get_variable("u", initializer=tf.zeros_initializer()))
    yield outcome(lambda: tf.get_variable("c", [1], dtype=tf.complex64))
    yield outcome(lambda: tf.get_variable("n", [2], dtype=tf.int32))
    yield outcome(lambda: tf.get_variable("f", initializer=lambda: tf.ones([2])))
    yield outcome(lambda: tf.get_variable("k", [2], initializer=tf.ones_initializer))
    with tf.variable_scope("r", regularizer=lambda v: tf.reduce_sum(v) * 0.1):
        tf.get_variable("w", [2], initializer=tf.ones_initializer())
        tf.get_variable("b", [2], initializer=tf.ones_initializer(), regularizer=tf.no_regularizer)
    yield names(tf.get_collection("regularization_losses"))
    with tf.variable_scope("c", caching_device="/cpu:0", constraint=abs):
        yield tf.get_variable("v", [2], initializer=tf.ones_initializer()).constraint is abs


def getters(tf):
    seen = []

    def suffixed(getter, name, *args, **kwargs):
        seen.append("%s %s %s" % (name, args, sorted(kwargs)))
        return getter(name + "_s", *args, **kwargs)

    def doubled(getter, name, **kwargs):
        return getter(name, **kwargs) * 2

    with tf.variable_scope("outer", custom_getter=suffixed):
        yield tf.get_variable("v", [1], initializer=tf.zeros_initializer())
        with tf.variable_scope("inner", custom_getter=doubled):
            yield tf.get_variable("v", [1], initializer=tf.zeros_initializer())

    def creator(next_creator, **kwargs):
        seen.append("%s %s" % (kwargs["name"], sorted(kwargs)))
        kwargs["use_resource"] = True
        return next_creator(**kwargs)

    with tf.variable_creator_scope(creator):
        yield tf.Variable(1.0, name="made")
        yield tf.get_variable("got", [], initializer=tf.zeros_initializer())
    yield from seen


def partitions(tf):
    whole = np.arange(10, dtype="f").reshape(5, 2)
    p = tf.get_variable(
        "p", [5, 2], initializer=tf.zeros_initializer(), partitioner=tf.fixed_size_partitioner(2)
    )
    yield "%s %s %s %s %d" % (p.name, p.shape, p.dtype, names(p), len(p))
    yield " / ".join(v._get_save_slice_info().spec for v in p)
    q = tf.get_variable(
        "q", initializer=tf.constant(whole), partitioner=tf.fixed_size_partitioner(3)
    )
    one = tf.get_variable("one", [2], partitioner=tf.fixed_size_partitioner(1))
    yield tf.convert_to_tensor(p)
    yield tf.matmul(tf.constant(whole), q, transpose_b=True)
    yield tf.identity(one)
    yield names(q.assign_add(whole))
    yield outcome(lambda: tf.get_variable("p", [5, 2]))
    with tf.variable_scope("", reuse=True):
        yield tf.get_variable("p") is p
        parts = tf.fixed_size_partitioner(3)
        yield outcome(lambda: tf.get_variable("p", [5, 2], partitioner=parts))
        yield outcome(lambda: tf.get_variable("p", [4, 2]))
    yield outcome(lambda: tf.get_variable("m", [4, 4], partitioner=lambda **_: [2, 2]))
    yield outcome(lambda: tf.get_variable("m", [4, 4], partitioner=lambda **_: [2]))
    for make in (
        tf.min_max_variable_partitioner(4, min_slice_size=8),
        tf.min_max_variable_partitioner(3, axis=1, min_slice_size=16),
        tf.variable_axis_size_partitioner(24),
        tf.variable_axis_size_partitioner(24, axis=1, max_shards=1),
        tf.fixed_size_partitioner(9),
    ):
        yield make(shape=tf.TensorShape([5, 2]), dtype=tf.float32)
    made = tf.create_partitioned_variables([4, 2], [2, 1], tf.ones_initializer(), name="old")
    yield names(made)


def setter(tf):
    device = tf.train.replica_device_setter(2, worker_device="/job:worker/task:1")
    zeros = tf.zeros_initializer()
    with tf.device(device):
        tf.Variable(1.0, name="q")
        tf.Variable(1.0, name="q")
        tf.Variable(1.0, name="q", use_resource=True)
        tf.get_variable("g", [2], initializer=zeros)
        tf.get_local_variable("l", [2], initializer=zeros)
        with tf.device("/job:ps/task:0"):
            tf.Variable(1.0, name="pinned")
        with tf.device("/job:worker"):
            tf.Variable(1.0, name="on_worker")
        with tf.device("/cpu:1"):
            tf.Variable(1.0, name="cpu")
        tf.train.get_or_create_global_step()
        yield tf.global_variables_initializer().name
    cluster = tf.train.ClusterSpec({"ps": ["a:1", "b:1"], "worker": ["c:1"]})
    with tf.device(tf.train.replica_device_setter(cluster=cluster, ps_device="/job:ps/cpu:0")):
        tf.Variable(1.0, name="c")
        tf.no_op()
    for bad in (
        dict(cluster=3),
        dict(cluster={"worker": ["c:1"]}),
        dict(ps_tasks=0),
        dict(ps_tasks=1, ps_strategy=3),
    ):
        yield outcome(lambda bad=bad: tf.train.replica_device_setter(**bad))
    keep = tf.train.replica_device_setter(1, merge_devices=False, ps_ops=["Const"])
    with tf.device(keep):
        tf.constant(1.0, name="as_ps")
        tf.Variable(1.0, name="as_worker")
        with tf.device("/cpu:0"):
            tf.constant(1.0, name="kept")


def cluster_specs(tf):
    spec = tf.train.ClusterSpec({"ps": ["a:1", "b:2"], "worker": {1: "c:3"}})
    yield spec
    yield spec.as_dict()
    yield sorted(spec.jobs)
    yield spec.job_tasks("worker")
    yield "%d %d %s" % (spec.num_tasks("ps"), spec.num_tasks("worker"), spec.task_indices("worker"))
    yield tf.train.ClusterSpec(spec.as_cluster_def()) == spec
    yield bool(tf.train.ClusterSpec({}))
    for call in (
        lambda: tf.train.ClusterSpec(3),
        lambda: tf.train.ClusterSpec({"ps": 3}),
        lambda: tf.train.ClusterSpec({"ps": [3]}),
        lambda: spec.num_tasks("x"),
        lambda: spec.job_tasks("x"),
        lambda: spec.task_address("worker", 0),
        lambda: spec.task_address("worker", 1),
    ):
        yield outcome(call)


def device_specs(tf):
    spec = tf.DeviceSpec("ps", 0, 1, "gpu")
    yield spec.to_string()
    spec.job = "w"
    spec.merge_from(tf.DeviceSpec.from_string("/task:3/cpu:0"))
    yield spec.to_string()
    spec.parse_from_string("/job:a/device:FOO:*")
    yield "%s %s %s %s %s" % (
        spec.job, spec.replica, spec.task, spec.device_type, spec.device_index
    )  # fmt: skip
    yield spec == tf.DeviceSpec(job="a", device_type="FOO")
    yield outcome(lambda: tf.DeviceSpec.from_string("/jobs:ps"))
    yield outcome(lambda: tf.DeviceSpec(task="x"))
    with tf.device(tf.DeviceSpec(job="ps", task=2)):
        tf.no_op()


PROGRAMS = {
    program.__name__: program
    for program in (
        ref_variables, resource_variables, initial_values, scopes, scope_arguments, getters,
        partitions, setter, cluster_specs, device_specs,
    )
}  # fmt: skip

if __name__ == "__main__":
    main(PROGRAMS)
