"""The ops of tf.train.Saver, and checkpoints, as a real TensorFlow 1.15 makes them:

PYTHONPATH=../.. TF=tensorflow python record.py > graphs.json.gz
PYTHONPATH=../.. python record.py checkpoints.zip
"""

import os
import sys
import tempfile
import zipfile

import numpy as np

from recording import main, outcome


def variables(tf, **options):
    with tf.device(tf.train.replica_device_setter(2)):
        return [tf.get_variable(n, [2, 3], **options) for n in ("b", "a", "c")]


def told(saver):
    return str(saver.as_saver_def()).splitlines()


def plain(tf):
    variables(tf)
    yield from told(tf.train.Saver())
    yield from told(tf.train.Saver(max_to_keep=None, name="again"))


def sharded(tf):
    variables(tf)
    saver = tf.train.Saver(sharded=True, keep_checkpoint_every_n_hours=0.5)
    yield from [s for s in told(saver) if "save_tensor" not in s]


def resource(tf):
    b, a, c = variables(tf, use_resource=True)
    yield from told(tf.train.Saver([c, a]))
    tf.train.Saver({"x": b, "y": a}, sharded=True)


def partitioned(tf):
    variables(tf, partitioner=tf.fixed_size_partitioner(2))
    tf.train.Saver()
    tf.train.Saver(sharded=True)


def partitioned_resource(tf):
    variables(tf, partitioner=tf.fixed_size_partitioner(2), use_resource=True)
    tf.train.Saver()
    tf.train.Saver(sharded=True)


def reshaped(tf):
    a, _, _ = variables(tf)
    b = tf.Variable(tf.placeholder(tf.float32), validate_shape=False, name="any")
    tf.train.Saver([a, b], reshape=True)


def separate(tf):
    variables(tf)
    builder = tf.train.Saver.__init__.__globals__["BaseSaverBuilder"]()
    tf.train.Saver(builder=builder)


def wrong(tf):
    train = tf.train
    yield outcome(lambda: train.Saver())
    yield outcome(lambda: train.Saver(allow_empty=True).saver_def)
    a = tf.get_variable("a", [2])
    yield outcome(lambda: train.Saver({"x": a, "y": a}))
    yield outcome(lambda: train.Saver([a, a]))
    yield outcome(lambda: train.Saver(a))
    yield outcome(lambda: train.Saver({1: a}))
    yield outcome(lambda: train.Saver([tf.constant(1.0, name="k")]))
    yield outcome(lambda: train.Saver({"k": tf.constant(1.0, name="l")}))
    yield outcome(lambda: train.Saver([a], defer_build=True))
    yield outcome(lambda: train.Saver(defer_build=True).save(None, "x"))
    saver = train.Saver()
    with tf.Session() as session:
        yield outcome(lambda: saver.save(session, "x", latest_filename="a/b"))
        yield outcome(lambda: saver.save(session, "d/checkpoint"))
        yield outcome(lambda: saver.save("no session", "x"))
        yield outcome(lambda: saver.restore(session, None))
        yield outcome(lambda: saver.restore(session, "missing"))


PROGRAMS = {
    f.__name__: f
    for f in (
        plain, sharded, resource, partitioned, partitioned_resource, reshaped, separate, wrong,
    )
}  # fmt: skip

TYPES = (
    "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 bool complex64 complex128".split()
)


def contents():
    """The tensors of the recorded checkpoints."""
    found = {t: np.arange(6).reshape(2, 3).astype(t) for t in TYPES}
    found["scalar"] = np.float32(1.5)
    found["empty"] = np.zeros([0, 3], np.float32)
    found["strings"] = np.array([[b"", b"ab"], [b"x" * 300, b"\0\xff"]], object)
    found["scope/rows"] = np.arange(20, dtype=np.float32).reshape(5, 4)
    found["scope/columns"] = np.arange(200, dtype=np.int64).reshape(2, 100)
    return found


def checkpoints(target):
    import tensorflow as tf

    for name, value in contents().items():
        rows = {"scope/rows": [3, 1], "scope/columns": [1, 3]}.get(name)

        def initial(shape, dtype=None, partition_info=None, value=value, rows=rows):
            if rows is None:
                return tf.constant(value)
            box = zip(partition_info.var_offset, shape)
            return tf.constant(value[tuple(slice(o, o + int(n)) for o, n in box)])

        tf.get_variable(
            name, value.shape, tf.as_dtype(value.dtype), initial,
            partitioner=rows and (lambda shape, dtype, rows=rows: rows),
        )  # fmt: skip
    with tempfile.TemporaryDirectory() as directory, tf.Session() as session:
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, directory + "/plain", write_meta_graph=False)
        tf.train.Saver(sharded=True).save(session, directory + "/sharded", write_meta_graph=False)
        for name in ("old", "old_sharded"):
            saver = tf.train.Saver(write_version=tf.train.SaverDef.V1, sharded=name != "old")
            saver.save(session, os.path.join(directory, name), write_meta_graph=False)
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(os.listdir(directory)):
                archive.write(os.path.join(directory, file), file)


if __name__ == "__main__":
    if sys.argv[1:]:
        checkpoints(sys.argv[1])
    else:
        main(PROGRAMS)
