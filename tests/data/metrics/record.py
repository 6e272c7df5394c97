"""What each metric builds and computes. With a real TensorFlow 1.15:

    TF=tensorflow python record.py > runs.json.gz

Each program makes a metric from placeholders; a run gives the nodes of its graph, and the new and
the present value after each of two batches. Runs on Python 3.7, too.
"""

import gzip
import importlib
import json
import os
import sys

import numpy as np

LABELS = [[0, 1, 1, 0, 1], [1, 1, 0, 0, 0]]
SCORES = [[0.1, 0.8, 0.35, 0.6, 0.9], [0.4, 0.7, 0.2, 0.55, 0.05]]
WEIGHTS = [[1.0, 0.5, 2.0, 1.0, 0.0], [1.0, 1.0, 3.0, 0.5, 1.0]]
CLASSES = [[0, 2, 1, 2, 3], [3, 0, 0, 2, 1]]
GUESSES = [[0, 2, 2, 2, 0], [3, 1, 0, 2, 1]]
RANKS = [
    [[0.1, 0.5, 0.3, 0.1], [0.6, 0.1, 0.2, 0.1], [0.2, 0.3, 0.1, 0.4]],
    [[0.3, 0.1, 0.2, 0.4], [0.1, 0.2, 0.6, 0.1], [0.1, 0.2, 0.3, 0.4]],
]
TARGETS = [[[1], [3], [0]], [[0], [2], [1]]]
MANY = [[[1, 2], [3, 0], [0, 5]], [[0, 3], [2, 1], [1, 9]]]
COLUMNS = [[[1.0], [2.0]], [[3.0], [5.0]]]
AT = [0.3, 0.6]
ROWS = [[1.0, 0.0, 0.5], [2.0, 1.0, 1.0]]


class Inputs:
    """Placeholders, and what is fed to each in either batch."""

    def __init__(self, tf):
        self.tf = tf
        self.fed = {}

    def __call__(self, values, dtype="float32", known=True):
        shape = np.shape(values)[1:] if known else None
        x = self.tf.placeholder(getattr(self.tf, dtype), shape)
        self.fed[x] = values
        return x


def labels(given, dtype="float32"):
    return given(LABELS, dtype)


def pair(given):
    return labels(given), given(SCORES)


def rows(given, targets=TARGETS):
    return given(targets, "int64"), given(RANKS)


PROGRAMS = {
    "mean": lambda m, g: m.mean(g(SCORES)),
    "mean named": lambda m, g: m.mean(g(SCORES), name="loss", metrics_collections=["a", "b"]),
    "mean weighted": lambda m, g: m.mean(g(SCORES), g(WEIGHTS)),
    "mean by scalar": lambda m, g: m.mean(g(SCORES), 0.5),
    "mean of columns": lambda m, g: m.mean(g(COLUMNS), g([[1.0, 2.0]] * 2)),
    "mean of unknown": lambda m, g: m.mean(g(SCORES, known=False), g(WEIGHTS, known=False)),
    "mean_tensor": lambda m, g: m.mean_tensor(g(SCORES)),
    "mean_tensor weighted": lambda m, g: m.mean_tensor(g(SCORES), g(WEIGHTS)),
    "accuracy": lambda m, g: m.accuracy(g(CLASSES, "int64"), g(GUESSES, "int64")),
    "accuracy of types": lambda m, g: m.accuracy(
        g(CLASSES, "int64"), g(GUESSES, "int32"), g(WEIGHTS)
    ),
    "mean_absolute_error": lambda m, g: m.mean_absolute_error(*pair(g)),
    "mean_squared_error": lambda m, g: m.mean_squared_error(*pair(g), weights=g(WEIGHTS)),
    "root_mean_squared_error": lambda m, g: m.root_mean_squared_error(*pair(g)),
    "mean_relative_error": lambda m, g: m.mean_relative_error(*pair(g), normalizer=g(LABELS)),
    "mean_cosine_distance": lambda m, g: m.mean_cosine_distance(*pair(g), dim=0),
    "percentage_below": lambda m, g: m.percentage_below(g(SCORES), 0.5),
    "mean_per_class_accuracy": lambda m, g: m.mean_per_class_accuracy(
        g(CLASSES, "int64"), g(GUESSES, "int32"), 4, g(WEIGHTS)
    ),
    "mean_iou": lambda m, g: m.mean_iou(g(CLASSES, "int64"), g(GUESSES, "int64"), 4),
    "mean_iou weighted": lambda m, g: m.mean_iou(
        g(CLASSES, "int32"), g(GUESSES, "int32"), 4, g(WEIGHTS)
    ),
    "true_positives": lambda m, g: m.true_positives(labels(g), g(LABELS[::-1])),
    "true_negatives": lambda m, g: m.true_negatives(labels(g), g(LABELS[::-1])),
    "false_positives": lambda m, g: m.false_positives(labels(g), g(LABELS[::-1])),
    "false_negatives": lambda m, g: m.false_negatives(labels(g), g(LABELS[::-1]), g(WEIGHTS)),
    "precision": lambda m, g: m.precision(labels(g), g(LABELS[::-1], "bool")),
    "recall": lambda m, g: m.recall(labels(g), g(LABELS[::-1]), g(WEIGHTS)),
    "true_positives_at": lambda m, g: m.true_positives_at_thresholds(*pair(g), thresholds=AT),
    "true_negatives_at": lambda m, g: m.true_negatives_at_thresholds(*pair(g), thresholds=AT),
    "false_positives_at": lambda m, g: m.false_positives_at_thresholds(
        *pair(g), thresholds=AT, weights=g(WEIGHTS)
    ),
    "false_negatives_at": lambda m, g: m.false_negatives_at_thresholds(
        *pair(g), thresholds=AT
    ),
    "precision_at": lambda m, g: m.precision_at_thresholds(*pair(g), thresholds=[0.1, 0.5, 0.7]),
    "recall_at": lambda m, g: m.recall_at_thresholds(*pair(g), thresholds=[0.1, 0.5, 0.7]),
    "auc": lambda m, g: m.auc(*pair(g), num_thresholds=5),
    "auc weighted": lambda m, g: m.auc(*pair(g), num_thresholds=5, weights=g(WEIGHTS)),
    "auc unknown": lambda m, g: m.auc(g(LABELS, "bool", False), g(SCORES, known=False), None, 4),
    "auc pr": lambda m, g: m.auc(
        *pair(g), num_thresholds=5, curve="PR", summation_method="careful_interpolation"
    ),
    "auc pr minoring": lambda m, g: m.auc(
        *pair(g), curve="PR", summation_method="minoring", thresholds=[0.7, 0.2]
    ),
    "auc majoring": lambda m, g: m.auc(*pair(g), num_thresholds=6, summation_method="majoring"),
    "sensitivity": lambda m, g: m.sensitivity_at_specificity(
        *pair(g), specificity=0.6, num_thresholds=5
    ),
    "specificity": lambda m, g: m.specificity_at_sensitivity(
        *pair(g), sensitivity=0.6, num_thresholds=5
    ),
    "precision_at_k": lambda m, g: m.precision_at_k(*rows(g), k=2),
    "precision_at_k class": lambda m, g: m.precision_at_k(
        *rows(g), k=2, class_id=1, weights=g(ROWS)
    ),
    "precision_at_top_k": lambda m, g: m.precision_at_top_k(
        g(TARGETS, "int64"), g([[[1, 2], [0, 3], [1, 0]]] * 2, "int64")
    ),
    "recall_at_k": lambda m, g: m.recall_at_k(*rows(g, MANY), k=2),
    "recall_at_k class": lambda m, g: m.recall_at_k(*rows(g), k=3, class_id=0),
    "recall_at_k flat": lambda m, g: m.recall_at_k(g([[1, 3, 0], [0, 2, 1]], "int64"), g(RANKS), 2),
    "average_precision_at_k": lambda m, g: m.average_precision_at_k(*rows(g, MANY), k=3),
    "average_precision_at_1": lambda m, g: m.average_precision_at_k(*rows(g), k=1),
    "average_precision weighted": lambda m, g: m.average_precision_at_k(
        *rows(g), k=2, weights=g(ROWS), name="map"
    ),
}  # fmt: skip


def describe(op):
    groups = [g.decode() for g in op.colocation_groups() if g.decode() != "loc:@" + op.name]
    data = " ".join(t.name for t in op.inputs)
    after = " ".join(sorted("^" + c.name for c in op.control_inputs))
    return " | ".join([op.name, op.type, data, after, " ".join(groups)])


def run(tf, name):
    """Nodes of the graph with the collections' sizes, and the values after each batch."""
    with tf.Graph().as_default() as graph:
        given = Inputs(tf)
        value, update = PROGRAMS[name](tf.metrics, given)
        nodes = [describe(op) for op in graph.get_operations()]
        keys = tf.GraphKeys.METRIC_VARIABLES, tf.GraphKeys.LOCAL_VARIABLES, "a", "b"
        held = [[x.name for x in tf.get_collection(key)] for key in keys]
        values = []
        with tf.Session(graph=graph) as session:
            session.run(tf.local_variables_initializer())
            for batch in range(2):
                feeds = {x: batches[batch] for x, batches in given.fed.items()}
                for fetch in (update, value):
                    values.append(np.asarray(session.run(fetch, feeds)).tolist())
    return {"nodes": nodes, "collections": held, "values": values}


def main():
    tf = importlib.import_module(os.environ["TF"])
    runs = {name: run(tf, name) for name in PROGRAMS}
    sys.stdout.buffer.write(gzip.compress(json.dumps(runs, sort_keys=True).encode(), 9))


if __name__ == "__main__":
    main()
