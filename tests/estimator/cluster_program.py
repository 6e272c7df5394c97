"""What each process of a test's cluster runs: `cluster_program.py MODEL_DIR MAX_STEPS`."""

import sys
import time

import minitf as tf


def model_fn(features, labels, mode):
    w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
    predictions = features["x"] * w
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"y": predictions})
    loss = tf.reduce_mean(tf.square(predictions - labels))
    print(f"w on {w.device}, loss on {loss.device}", flush=True)
    optimizer = tf.train.GradientDescentOptimizer(0.01)
    return tf.estimator.EstimatorSpec(
        mode,
        loss=loss,
        train_op=optimizer.minimize(loss, global_step=tf.train.get_global_step()),
        eval_metric_ops={"mae": tf.metrics.mean_absolute_error(labels, predictions)},
    )


def input_fn():
    x = tf.random_uniform([16], 0.5, 1.5, seed=1)
    return {"x": x}, 3 * x


def receiver():
    x = tf.placeholder(tf.float32, [None])
    return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})


class Slowly(tf.estimator.SessionRunHook):
    """So that the others come before the end."""

    def after_run(self, run_context, run_values):
        time.sleep(0.005)


if __name__ == "__main__":
    model_dir, max_steps = sys.argv[1], int(sys.argv[2])
    tf.logging.set_verbosity(tf.logging.INFO)
    config = tf.estimator.RunConfig(
        model_dir, save_checkpoints_steps=100, experimental_max_worker_delay_secs=0
    )
    tf.estimator.train_and_evaluate(
        tf.estimator.Estimator(model_fn, config=config),
        tf.estimator.TrainSpec(input_fn, max_steps=max_steps, hooks=[Slowly()]),
        tf.estimator.EvalSpec(
            input_fn,
            steps=2,
            exporters=[tf.estimator.FinalExporter("final", receiver)],
            start_delay_secs=0,
            throttle_secs=0.2,
        ),
    )
