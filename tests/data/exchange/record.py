"""Models that are exchanged with a real TensorFlow 1.15: built here or there, run here and there.

PYTHONPATH=../.. TF=tensorflow python record.py recorded.zip
"""

import importlib
import json
import os
import sys
import tempfile
import zipfile

import numpy as np

STEPS = 3


def values(shape, start=0.0):
    """Small numbers of both signs, without a random generator."""
    count = int(np.prod(shape))
    return np.sin(np.arange(count) * 1.7 + start).reshape(shape).astype(np.float32)


def variable(tf, name, shape, **options):
    start = len(name)

    def initial(shape, dtype=None, partition_info=None):
        offset = partition_info.var_offset if partition_info else [0] * len(shape)
        whole = values(partition_info.full_shape if partition_info else shape, start)
        box = tuple(slice(o, o + n) for o, n in zip(offset, shape))
        return tf.constant(whole[box])

    return tf.get_variable(name, shape, tf.float32, initial, **options)


def mlp(tf):
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    labels = tf.placeholder(tf.int64, [None], name="labels")
    with tf.device("/job:ps/task:0"):
        w, b = variable(tf, "w", [4, 5]), variable(tf, "b", [5], use_resource=True)
        out = variable(tf, "out", [5, 3])
    hidden = tf.nn.relu(tf.matmul(x, w) + b)
    hidden = tf.cond(tf.reduce_sum(x) > 1e6, lambda: hidden * 2, lambda: hidden)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=labels, logits=tf.matmul(hidden, out)
    )
    loss = tf.reduce_mean(losses, name="loss")
    step = tf.train.get_or_create_global_step()
    tf.summary.scalar("loss", loss)
    tf.summary.histogram("hidden", hidden)
    tf.summary.merge_all(name="summaries")
    return tf.train.AdamOptimizer(0.1).minimize(loss, step), {
        "x:0": values([6, 4]),
        "labels:0": np.arange(6) % 3,
    }


def cnn(tf):
    x = tf.placeholder(tf.float32, [2, 8, 8, 1], name="x")
    kernel, w = variable(tf, "kernel", [3, 3, 1, 2]), variable(tf, "w", [32, 1])
    image = tf.nn.relu(tf.nn.conv2d(x, kernel, [1, 1, 1, 1], "SAME"))
    image = tf.nn.max_pool(image, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    loss = tf.reduce_mean(tf.square(tf.matmul(tf.reshape(image, [2, 32]), w)), name="loss")
    return tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss), {"x:0": values([2, 8, 8, 1])}


def rnn(tf):
    x = tf.placeholder(tf.float32, [None, 2, 3], name="x")
    w, u = variable(tf, "w", [3, 4]), variable(tf, "u", [4, 4])
    count = tf.shape(x)[0]
    rows = tf.TensorArray(tf.float32, count).unstack(x)
    outputs = tf.TensorArray(tf.float32, count)

    def body(i, state, outputs):
        state = tf.tanh(tf.matmul(rows.read(i), w) + tf.matmul(state, u))
        return i + 1, state, outputs.write(i, state)

    _, _, outputs = tf.while_loop(lambda i, *_: i < count, body, [0, tf.zeros([2, 4]), outputs])
    loss = tf.reduce_mean(tf.square(outputs.stack()), name="loss")
    return tf.train.GradientDescentOptimizer(0.1).minimize(loss), {"x:0": values([5, 2, 3])}


def embedding(tf):
    ids = tf.placeholder(tf.int64, [None], name="ids")
    table = variable(tf, "table", [7, 3], partitioner=tf.fixed_size_partitioner(2))
    rows = tf.nn.embedding_lookup(table, ids, partition_strategy="div")
    loss = tf.reduce_sum(tf.square(rows), name="loss")
    return tf.train.AdagradOptimizer(0.1).minimize(loss), {"ids:0": np.array([1, 6, 1, 4])}


def sync(tf):
    x = tf.placeholder(tf.float32, [3], name="x")
    w = variable(tf, "w", [3])
    loss = tf.reduce_sum(tf.square(w - x), name="loss")
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), 1, 1)
    step = tf.train.get_or_create_global_step()
    train = optimizer.minimize(loss, step)
    tf.train.add_queue_runner(optimizer.get_chief_queue_runner())
    for op in (optimizer.local_step_init_op, optimizer.get_init_tokens_op(0)):
        tf.add_to_collection("before", op)
    return train, {"x:0": values([3], 2.0)}


MODELS = {f.__name__: f for f in (mlp, cnn, rnn, embedding, sync)}


def build(tf, name, path):
    """Builds a model; writes PATH.meta, PATH.meta.txt and, from a copy of it without devices, a
    checkpoint and frozen graphs."""
    with tf.Graph().as_default():
        train, _ = MODELS[name](tf)
        tf.add_to_collection("train", train)
        tf.add_to_collection("init", tf.global_variables_initializer())
        saver = tf.train.Saver()
        saver.export_meta_graph(path + ".meta")
        saver.export_meta_graph(path + ".meta.txt", as_text=True)
    with tf.Graph().as_default():
        saver = tf.train.import_meta_graph(path + ".meta", clear_devices=True)
        with tf.Session() as session:
            session.run(tf.get_collection("init"))
            saver.save(session, path, write_meta_graph=False, write_state=False)
            freeze(tf, session, path)


def freeze(tf, session, path):
    """Writes what the loss needs, with the variables as constants, in all forms of a GraphDef."""
    util = tf.graph_util
    whole = session.graph.as_graph_def()
    needed = util.extract_sub_graph(whole, ["loss"])
    frozen = util.convert_variables_to_constants(session, whole, ["loss"])
    small = util.remove_training_nodes(frozen, ["loss"])
    directory, name = os.path.split(path)
    for kind, made in (("needed", needed), ("frozen", frozen), ("small", small)):
        for suffix in (".pb", ".pbtxt"):
            file = "%s.%s%s" % (name, kind, suffix)
            tf.train.write_graph(made, directory, file, as_text=suffix == ".pbtxt")


def read_graph(tf, file):
    """A GraphDef from a file, which the packages read in ways of their own if it is text."""
    if file.endswith(".pb"):
        with open(file, "rb") as binary:
            return tf.GraphDef.FromString(binary.read())
    with open(file) as text:
        if tf.__name__ == "minitf":
            return importlib.import_module("minitf.proto.text").merge_text(
                text.read(), tf.GraphDef()
            )
        parse = importlib.import_module("google.protobuf.text_format").Parse
        return parse(text.read(), tf.GraphDef())


def run_frozen(tf, name, path):
    """The loss of the frozen graphs, from each of their files."""
    feed = feed_of(tf, name)
    losses = []
    for suffix in ("frozen.pb", "frozen.pbtxt", "small.pb", "small.pbtxt"):
        with tf.Graph().as_default(), tf.Session() as session:
            graph_def = read_graph(tf, "%s.%s" % (path, suffix))
            (loss,) = tf.import_graph_def(graph_def, return_elements=["loss:0"], name="again")
            fed = {"again/" + key: value for key, value in feed.items()}
            losses.append(session.run(loss, fed).item())
    return losses


def moved(tf, path):
    """The nodes that an import puts on another device, that of an op of their class."""
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(path + ".meta")
        message = type(tf.train.export_meta_graph())
        with open(path + ".meta", "rb") as file:
            before = message.FromString(file.read())
        devices = {op.name: op.device for op in graph.get_operations()}
        nodes = before.graph_def.node
        return {n.name: devices[n.name] for n in nodes if n.device != devices[n.name]}


def feed_of(tf, name):
    with tf.Graph().as_default():
        return MODELS[name](tf)[1]


def run(tf, name, path, meta=".meta"):
    """Imports a model, restores it and trains it: the losses, the variables, the summaries."""
    feed = feed_of(tf, name)
    with tf.Graph().as_default() as graph:
        saver = tf.train.import_meta_graph(path + meta, clear_devices=True)
        (train,) = tf.get_collection("train")
        with tf.Session() as session:
            saver.restore(session, path)
            session.run(tf.local_variables_initializer())
            session.run(tf.get_collection("before"))
            tf.train.start_queue_runners(session, tf.train.Coordinator())
            losses = [session.run(["loss:0", train], feed)[0].item() for _ in range(STEPS)]
            found = {v.op.name: session.run(v).ravel().tolist() for v in tf.trainable_variables()}
            summary = ""
            if tf.get_collection("summaries"):
                text = session.run(graph.get_tensor_by_name("summaries/summaries:0"), feed)
                summary = text.hex()
        return {"losses": losses, "variables": found, "summary": summary}


def main(target):
    tf = importlib.import_module(os.environ["TF"])
    with tempfile.TemporaryDirectory() as directory:
        done = {}
        for name in MODELS:
            build(tf, name, os.path.join(directory, name))
            done[name] = run(tf, name, os.path.join(directory, name))
            done[name]["moved"] = moved(tf, os.path.join(directory, name))
            done[name]["frozen"] = run_frozen(tf, name, os.path.join(directory, name))
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(os.listdir(directory)):
                archive.write(os.path.join(directory, file), file)
            archive.writestr("runs.json", json.dumps(done, sort_keys=True))


if __name__ == "__main__":
    main(sys.argv[1])
