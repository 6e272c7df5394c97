"""What readers and the parsing of examples add to a graph. With a real TensorFlow 1.15:

PYTHONPATH=../.. TF=tensorflow python record.py > graphs.json.gz
"""

from recording import main, outcome


def readers(tf):
    queue = tf.train.string_input_producer(["a", "b"], shuffle=False)
    for reader in (
        tf.WholeFileReader(),
        tf.TextLineReader(skip_header_lines=2),
        tf.FixedLengthRecordReader(8, 1, 2, 3, name="fixed", encoding="ZLIB"),
        tf.TFRecordReader(options=tf.python_io.TFRecordOptions("GZIP"), name="records"),
        tf.IdentityReader("same"),
    ):
        key, value = reader.read(queue)
        keys, values = reader.read_up_to(queue.queue_ref, 5, name="several")
        yield "%s %s %s %s" % (key.name, value.shape, keys.name, values.shape)
        yield reader.num_records_produced().name
        yield reader.num_work_units_completed("done").name
        yield reader.serialize_state().name
        yield reader.restore_state(b"").name
        yield reader.reset().name
        yield "%s %s" % (reader.supports_serialize, reader.reader_ref.dtype.name)


def rows_of_text(tf):
    queue = tf.train.string_input_producer(["a.csv"], num_epochs=1, shuffle=False)
    _, line = tf.TextLineReader(1).read(queue)
    columns = tf.decode_csv(line, [[0.0], [0], [""]], field_delim=";", na_value="NA")
    yield " ".join("%s %s" % (c.name, c.shape) for c in columns)
    some = tf.decode_csv(["1,2,3"], [tf.constant([], tf.float32)], select_cols=[1], name="some")
    yield "%s %s" % (some[0].name, some[0].shape)
    yield outcome(lambda: tf.decode_csv(["1"], [[1.0], [2.0]], select_cols=[1, 0]))
    yield outcome(lambda: tf.decode_csv(["1"], [[1.0, 2.0]]))
    yield tf.train.batch(columns, 3)[0].name


def strings(tf):
    yield str(tf.decode_compressed(["a"], "ZLIB").shape)
    yield str(tf.parse_tensor(tf.serialize_tensor([1.0]), tf.float32).shape)


def kinds(tf):
    return {
        "one": tf.FixedLenFeature([], tf.int64),
        "pair": tf.FixedLenFeature([2], tf.float32, [1.0, 2.0]),
        "word": tf.FixedLenFeature([1], tf.string, "none"),
        "free": tf.VarLenFeature(tf.string),
        "steps": tf.FixedLenSequenceFeature([3], tf.float32, allow_missing=True),
        "odd name!": tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True, default_value=-1),
    }


def told(parsed):
    for key in sorted(parsed):
        t = parsed[key]
        parts = (t.indices, t.values, t.dense_shape) if hasattr(t, "indices") else (t,)
        yield key + " " + " ".join("%s %s" % (p.name, p.shape) for p in parts)


def examples(tf):
    for text in told(tf.parse_example(tf.placeholder(tf.string, [4]), kinds(tf))):
        yield text
    names = tf.placeholder(tf.string, [None])
    parsed = tf.parse_example(tf.placeholder(tf.string, None), kinds(tf), "some", names)
    for text in told(parsed):
        yield text


def single_examples(tf):
    _, record = tf.TFRecordReader().read(tf.train.string_input_producer(["a"]))
    parsed = tf.parse_single_example(record, kinds(tf))
    for text in told(parsed):
        yield text
    for text in told(tf.parse_single_example(record, kinds(tf), "named", "example")):
        yield text
    unknown = tf.placeholder(tf.string, None)
    for text in told(tf.parse_single_example(unknown, kinds(tf), example_names=unknown)):
        yield text
    yield tf.train.shuffle_batch([parsed["one"], parsed["pair"]], 4, 20, 10)[0].name


def sequences(tf):
    context = {"a": tf.VarLenFeature(tf.int64), "b": tf.FixedLenFeature([2], tf.float32, 0.0)}
    context["b"] = tf.FixedLenFeature([2], tf.float32, [0.0, 1.0])
    steps = {
        "c": tf.FixedLenSequenceFeature([3], tf.int64, allow_missing=True),
        "d": tf.FixedLenSequenceFeature([], tf.string),
        "e": tf.VarLenFeature(tf.float32),
    }
    text = tf.placeholder(tf.string)
    for parsed in tf.parse_single_sequence_example(text, context, steps, "name"):
        for line in told(parsed):
            yield line
    for parsed in tf.parse_single_sequence_example(text, None, steps, name="only"):
        for line in told(parsed):
            yield line
    for parsed in tf.io.parse_sequence_example([b""], context, steps):
        for line in told(parsed):
            yield line


def sparse_features(tf):
    features = {
        "s": tf.SparseFeature("at", "value", tf.float32, 10),
        "t": tf.SparseFeature(["at", "row"], "value", tf.float32, [10, 5], already_sorted=True),
        "at": tf.VarLenFeature(tf.int64),
    }
    for text in told(tf.parse_example([b""], features)):
        yield text
    for text in told(tf.parse_single_example(b"", features)):
        yield text


def refusals(tf):
    for features in (
        {},
        {"a": tf.FixedLenFeature(None, tf.int64)},
        {"a": tf.FixedLenFeature([], None)},
        {"a": tf.FixedLenFeature([None], tf.int64)},
        {"a": tf.FixedLenFeature([2, None], tf.int64)},
        {"a": tf.VarLenFeature(None)},
        {"a": tf.FixedLenSequenceFeature([], tf.int64)},
        {"a": tf.SparseFeature("", "v", tf.int64, 3)},
        {"a": tf.SparseFeature("i", "", tf.int64, 3)},
        {"a": tf.SparseFeature("i", "i", tf.float32, 3)},
        {"a": 3},
        {"a": tf.FixedLenFeature([2], tf.int64, [1, 2, 3])},
    ):
        yield outcome(lambda f=features: tf.parse_example([b""], f))
        yield outcome(lambda f=features: tf.parse_single_example(b"", f))
    yield outcome(lambda: tf.parse_single_sequence_example(b""))
    steps = {"a": tf.FixedLenSequenceFeature([], tf.int64, True, 3)}
    yield outcome(lambda: tf.parse_single_sequence_example(b"", None, steps))
    yield outcome(lambda: tf.parse_single_example([b""], {"a": tf.VarLenFeature(tf.int64)}))


PROGRAMS = {
    program.__name__: program
    for program in (
        readers, rows_of_text, strings, examples, single_examples, sequences, sparse_features,
        refusals,
    )
}  # fmt: skip

if __name__ == "__main__":
    main(PROGRAMS)
