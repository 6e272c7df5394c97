"""An Estimator: the same program trains alone, or in a cluster that TF_CONFIG describes.

    python examples/estimator.py
    minitf cluster --ps 2 --workers 1 --chief --evaluator examples/estimator.py

In the cluster the variables are on the parameter servers, the chief and the worker train, and the
evaluator looks at each new checkpoint. Under real TensorFlow 1.15 only the import changes.
"""

import numpy as np

import minitf as tf

flags = tf.app.flags
flags.DEFINE_string("model_dir", "estimator_model", "checkpoints, summaries and exported models")
flags.DEFINE_integer("steps", 400, "steps of all workers together")
FLAGS = flags.FLAGS


def model_fn(features, labels, mode, params):
    hidden = tf.layers.dense(features["x"], params["hidden"], tf.nn.tanh, name="hidden")
    out = tf.layers.dense(hidden, 1, name="out")
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"y": out})
    loss = tf.losses.mean_squared_error(labels, out)
    optimizer = tf.train.AdamOptimizer(0.01)
    return tf.estimator.EstimatorSpec(
        mode,
        loss=loss,
        train_op=optimizer.minimize(loss, global_step=tf.train.get_global_step()),
        eval_metric_ops={"error": tf.metrics.mean_absolute_error(labels, out)},
    )


def points(n, seed, **options):
    x = np.random.RandomState(seed).uniform(-1, 1, (n, 4)).astype("f")
    y = np.sin(x.sum(axis=1, keepdims=True))
    return tf.estimator.inputs.numpy_input_fn({"x": x}, y, batch_size=64, **options)


def serving():
    x = tf.placeholder(tf.float32, [None, 4])
    return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})


def main(_):
    config = tf.estimator.RunConfig(FLAGS.model_dir, save_checkpoints_steps=100, tf_random_seed=1)
    estimator = tf.estimator.Estimator(model_fn, config=config, params={"hidden": 32})
    train = tf.estimator.TrainSpec(points(4096, 0, num_epochs=None, shuffle=True), FLAGS.steps)
    evaluate = tf.estimator.EvalSpec(
        points(512, 1, shuffle=False),
        steps=None,
        exporters=tf.estimator.FinalExporter("final", serving),
        start_delay_secs=1,
        throttle_secs=1,
    )
    tf.estimator.train_and_evaluate(estimator, train, evaluate)
    if config.task_type == "evaluator" or not config.cluster_spec:
        metrics = estimator.evaluate(evaluate.input_fn)
        print("step %(global_step)d error %(error).3f" % metrics)


if __name__ == "__main__":
    tf.app.run()
