"""What the input functions of tf.train add to a graph. With a real TensorFlow 1.15:

PYTHONPATH=../.. TF=tensorflow python record.py > graphs.json.gz
"""

from recording import main, outcome


def filenames(tf):
    yield tf.train.match_filenames_once("/nowhere/*").name
    yield tf.train.match_filenames_once(["/nowhere/a*", "b?"], name="found").name
    yield str([v.name for v in tf.local_variables()])


def limits(tf):
    x = tf.constant([1.0, 2.0])
    yield tf.train.limit_epochs(x).name
    yield tf.train.limit_epochs(x, 3).name
    yield tf.train.limit_epochs(x, 3, name="few").name


def producers(tf):
    train = tf.train
    queue = train.input_producer(tf.constant([[1, 2], [3, 4]]), num_epochs=2, shuffle=False)
    yield "%s %s" % (queue.name, queue.dequeue().shape)
    unknown = tf.placeholder(tf.float32, [None, 3])
    yield train.input_producer(unknown, shared_name="s", capacity=5, name="named", seed=1).name
    yield train.input_producer(unknown, summary_name="full", shuffle=False).name
    yield train.range_input_producer(10, num_epochs=1, seed=4).name
    yield train.string_input_producer(["a", "b"], shuffle=False, name="files").name
    yield train.string_input_producer(tf.placeholder(tf.string, [None]), num_epochs=2, seed=3).name
    rows = train.slice_input_producer([tf.ones([4, 2]), tf.zeros([4])], num_epochs=2, seed=5)
    yield " ".join("%s %s" % (t.name, t.shape) for t in rows)
    yield [qr.name for qr in tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)]


def batches(tf):
    train = tf.train
    x, y = tf.placeholder(tf.float32, []), tf.placeholder(tf.int32, [2])
    rows = tf.placeholder(tf.float32, [None, 2])
    text = tf.placeholder(tf.string, [None])
    yield shapes(train.batch([x, y], 4))
    yield shapes([train.batch([x], 3, num_threads=2, shared_name="s", name="one")])
    yield shapes(train.batch([rows, y], tf.placeholder(tf.int32, []), shapes=[[1, 2], [2]]))
    yield shapes([train.batch([rows], 4, enqueue_many=True, allow_smaller_final_batch=True)])
    yield shapes(train.batch([rows, text], 2, dynamic_pad=True, capacity=7))
    named = train.batch({"b": x, "a": y}, 2)
    yield sorted((k, v.name) for k, v in named.items())
    yield sorted(train.batch({"only": x}, 2).items())[0][1].name
    yield shapes(train.shuffle_batch([x, y], 4, 30, 10, seed=3))
    yield shapes([train.shuffle_batch([rows], 2, 9, 3, 2, 5, True, name="mixed")])
    yield [len(qr.enqueue_ops) for qr in tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)]


def sparse_batches(tf):
    train = tf.train
    sparse = tf.sparse_placeholder(tf.float32, [2, 3])
    x, keep = tf.placeholder(tf.float32, [2, 3]), tf.placeholder(tf.bool, [])
    some, any_rank = tf.placeholder(tf.bool, [None]), tf.sparse_placeholder(tf.int32)
    yield kinds(train.batch([sparse, x], 4))
    yield kinds([train.batch([sparse], 2, name="alone")])
    yield outcome(lambda: train.maybe_batch([sparse], False, 2, enqueue_many=True))
    yield kinds(train.maybe_batch([any_rank, x], keep, 2))
    yield kinds(train.maybe_batch([any_rank, x], keep, 2, enqueue_many=True))
    yield kinds(train.maybe_shuffle_batch([sparse, x], 2, 9, 3, some, 1, 5, True))
    joined = train.batch_join([{"s": sparse, "x": x}, {"s": sparse, "x": x}], 2)
    yield kinds([joined["s"], joined["x"]])
    yield outcome(lambda: train.batch_join([[sparse, x], [x, x]], 2)).split("[")[0]


def kinds(tensors):
    return " ".join("%s %s %s" % (type(t).__name__, t.op.name, t.shape) for t in tensors)


def filtered(tf):
    train = tf.train
    x, rows = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [None, 2])
    keep, some = tf.placeholder(tf.bool, []), tf.placeholder(tf.bool, [None])
    yield train.maybe_batch([x], keep, 4).name
    yield train.maybe_batch([x], False, 4).name
    yield train.maybe_batch([rows], some, 4, enqueue_many=True).name
    yield train.maybe_shuffle_batch([x], 4, 20, 5, keep, num_threads=3, seed=2).name
    yield [len(qr.enqueue_ops) for qr in tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)]


def joined(tf):
    train = tf.train
    x, y = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.float32, [2])
    keep = tf.placeholder(tf.bool, [])
    yield train.batch_join([[x], [y]], 4).name
    yield shapes(train.batch_join([[x, y], [y, x]], 4, name="pairs"))
    yield train.maybe_batch_join([[x], [y]], keep, 4, enqueue_many=True).name
    yield train.shuffle_batch_join([[x], [y]], 4, 20, 5, seed=3).name
    yield train.maybe_shuffle_batch_join([{"k": x}, {"k": y}], 4, 20, 5, keep, seed=3)["k"].name
    yield [len(qr.enqueue_ops) for qr in tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)]


def mistakes(tf):
    train = tf.train
    x, y = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.int32, [3])
    unknown, keep = tf.placeholder(tf.float32), tf.placeholder(tf.bool)
    yield outcome(lambda: train.limit_epochs(x, 0))
    yield outcome(lambda: train.input_producer(unknown))
    yield outcome(lambda: train.string_input_producer([]))
    yield outcome(lambda: train.slice_input_producer([]))
    yield outcome(lambda: train.batch([], 2))
    yield outcome(lambda: train.batch_join([], 2))
    yield outcome(lambda: train.batch([unknown], 2)).replace(str(unknown), "?")
    yield outcome(lambda: train.batch_join([[x], [y]], 2))
    yield outcome(lambda: train.batch_join([{"a": x}, {"b": x}], 2))
    yield outcome(lambda: train.shuffle_batch([x], 2, 5, 5))
    yield outcome(lambda: train.maybe_batch([x], keep, 2))
    yield outcome(lambda: train.maybe_batch([x], tf.constant([True]), 2))
    yield outcome(lambda: train.maybe_batch([x], tf.constant([[True]]), 2, enqueue_many=True))


def shapes(tensors):
    return " ".join("%s %s" % (t.name, t.shape) for t in tensors)


PROGRAMS = {
    p.__name__: p
    for p in (
        filenames,
        limits,
        producers,
        batches,
        sparse_batches,
        filtered,
        joined,
        mistakes,
    )  # fmt: skip
}

if __name__ == "__main__":
    main(PROGRAMS)
