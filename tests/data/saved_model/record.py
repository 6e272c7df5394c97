"""A SavedModel that is exchanged with a real TensorFlow 1.15: built here or there, loaded here and
there.

PYTHONPATH=. TF=tensorflow python record.py recorded.zip
"""

import importlib
import json
import os
import sys
import tempfile
import zipfile

KEY = "serving_default"


def graph(tf, asset):
    """The model's graph: words of a file are joined to what is computed."""
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    w = tf.get_variable("w", initializer=[[1.0], [2.0]])
    parts = tf.get_variable("parts", initializer=[[3.0], [4.0]], use_resource=True)
    steps = tf.Variable(0, collections=[tf.GraphKeys.LOCAL_VARIABLES], name="steps")
    y = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a + tf.matmul(x, w * parts)),
                      [0, tf.matmul(x, w)])[1]  # fmt: skip
    y = tf.identity(y, name="y")
    path = tf.constant(asset, name="path")
    tf.add_to_collection(tf.GraphKeys.ASSET_FILEPATHS, path)
    words = tf.Variable("", collections=[tf.GraphKeys.LOCAL_VARIABLES], name="words")
    read = tf.assign(words, tf.read_file(path))
    sparse = tf.SparseTensor([[0, 1]], [5.0], [2, 2])
    return x, y, sparse, tf.group(steps.initializer, read, name="prepare")


def build(tf, directory, asset, as_text=False):
    """Writes the model: a graph to serve, with devices and signatures, and one to train."""
    model = tf.saved_model
    builder = model.builder.SavedModelBuilder(directory)
    with tf.Graph().as_default(), tf.Session() as session:
        with tf.device("/cpu:0"):
            x, y, sparse, prepare = graph(tf, asset)
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        info = model.utils.build_tensor_info
        signatures = {
            KEY: model.signature_def_utils.predict_signature_def({"x": x}, {"y": y}),
            "sparse": model.signature_def_utils.build_signature_def(
                {"x": info(x)}, {"y": info(sparse)}, "method"
            ),
        }
        builder.add_meta_graph_and_variables(
            session,
            [model.tag_constants.SERVING],
            signatures,
            tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
            main_op=prepare,
            strip_default_attrs=True,
        )
    with tf.Graph().as_default():
        y = graph(tf, asset)[1]
        tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(y), name="train")
        builder.add_meta_graph(
            ["train", "cpu"],
            assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
            legacy_init_op=tf.get_default_graph().get_operation_by_name("prepare"),
            clear_devices=True,
        )
    builder.save(as_text)


def run(tf, directory):
    """Loads both graphs: what they compute, before and after a step of training."""
    data = [[1.0, 2.0], [3.0, 4.0]]
    with tf.Graph().as_default(), tf.Session() as session:
        made = tf.saved_model.loader.load(session, ["serve"], directory, import_scope="a")
        signature = made.signature_def[KEY]
        x, y = signature.inputs["x"].name, signature.outputs["y"].name
        find = tf.saved_model.utils.get_tensor_from_tensor_info
        sparse = find(made.signature_def["sparse"].outputs["y"], import_scope="a")
        served = session.run("a/" + y, {"a/" + x: data}).tolist()
        values = session.run([sparse.values, "a/steps:0"])
        words = session.run("a/words:0").decode()
    with tf.Graph().as_default(), tf.Session() as session:
        tf.saved_model.load(session, ["cpu", "train"], directory)
        before = session.run("y:0", {"x:0": data}).tolist()
        session.run("train", {"x:0": data})
        after = session.run("y:0", {"x:0": data}).tolist()
        more = session.run("words:0").decode()
    return {
        "method": signature.method_name,
        "shape": [d.size for d in signature.inputs["x"].tensor_shape.dim],
        "served": served,
        "sparse": [values[0].tolist(), int(values[1])],
        "words": [words, more],
        "trained": [before, after],
    }


def main(target):
    tf = importlib.import_module(os.environ["TF"])
    with tempfile.TemporaryDirectory() as directory:
        asset = os.path.join(directory, "words.txt")
        with open(asset, "w") as file:
            file.write("some words")
        model = os.path.join(directory, "model")
        build(tf, model, asset)
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for folder, _, files in os.walk(model):
                for name in sorted(files):
                    path = os.path.join(folder, name)
                    archive.write(path, os.path.relpath(path, directory))
            os.remove(asset)
            archive.writestr("run.json", json.dumps(run(tf, model), sort_keys=True))


if __name__ == "__main__":
    main(sys.argv[1])
