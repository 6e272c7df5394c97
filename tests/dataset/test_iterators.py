"""Iterators: their initializers and handles, shared by steps and sessions, up to the end."""

import threading
import time

import numpy as np
import pytest

import minitf as tf

Dataset = tf.data.Dataset


def prefetching():
    return [t for t in threading.enumerate() if t.name == "minitf-prefetch"]


def test_an_iterator_of_a_structure_takes_any_dataset_that_fits():
    iterator = tf.data.Iterator.from_structure(tf.int64, [])
    first, second = Dataset.range(2), Dataset.range(7, 9)
    starts = [iterator.make_initializer(d) for d in (first, second)]
    following = iterator.get_next()
    with tf.Session() as session:
        for start, expected in ((starts[0], 0), (starts[1], 7), (starts[0], 0)):
            session.run(start)
            assert session.run(following) == expected


@pytest.mark.parametrize(
    "dataset, told",
    [
        (lambda: Dataset.from_tensors(1.5), "Expected output types"),
        (lambda: Dataset.from_tensors(np.int64([1])), "Expected output shapes compatible with"),
        (lambda: Dataset.zip((Dataset.range(1), Dataset.range(1))), "nested structure"),
    ],
)
def test_a_dataset_that_does_not_fit_is_refused(dataset, told):
    iterator = tf.data.Iterator.from_structure(tf.int64, [])
    with pytest.raises((TypeError, ValueError), match=told):
        iterator.make_initializer(dataset())


def test_a_feedable_iterator_goes_on_where_each_was():
    d = Dataset.range(3).make_one_shot_iterator()
    e = Dataset.range(10, 13).make_initializable_iterator()
    handle = tf.placeholder(tf.string, [])
    following = tf.data.Iterator.from_string_handle(handle, tf.int64, []).get_next()
    with tf.Session() as session:
        session.run(e.initializer)
        handles = session.run([d.string_handle(), e.string_handle("again")])
        seen = [session.run(following, {handle: handles[i]}) for i in (0, 1, 1, 0, 1)]
        assert seen == [0, 10, 11, 1, 12]
        with pytest.raises(tf.errors.InvalidArgumentError, match="iterator"):
            session.run(following, {handle: "none"})


def test_a_feedable_iterator_of_other_types_is_refused():
    d = Dataset.range(3).make_one_shot_iterator()
    handle = tf.placeholder(tf.string, [])
    following = tf.data.Iterator.from_string_handle(handle, tf.float32, []).get_next()
    with tf.Session() as session:
        made = session.run(d.string_handle())
        with pytest.raises(tf.errors.InvalidArgumentError, match="type mismatch at component 0"):
            session.run(following, {handle: made})


def test_steps_of_several_threads_share_the_elements():
    following = Dataset.range(200).make_one_shot_iterator().get_next()
    seen, lock = [], threading.Lock()
    with tf.Session() as session:

        def work():
            for _ in range(50):
                value = session.run(following)
                with lock:
                    seen.append(int(value))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert sorted(seen) == list(range(200))


def test_one_step_takes_one_element_however_often_it_is_used():
    value = Dataset.range(5, 9).make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert session.run([value, value + 1, value * 2]) == [5, 6, 10]
        assert session.run(value) == 6


def test_a_dataset_reads_what_is_fed_and_variables_when_it_is_initialized():
    size = tf.placeholder(tf.int64, [])
    v = tf.get_variable("v", [], tf.int64, tf.ones_initializer(), use_resource=True)
    ref = tf.Variable(np.int64(100))
    d = Dataset.range(9).batch(size).map(lambda b: b * v + ref)
    with pytest.warns(UserWarning, match="static optimizations"):
        iterator = d.make_initializable_iterator()
    following = iterator.get_next()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(iterator.initializer, {size: 2})
        assert session.run(following).tolist() == [100, 101]
        session.run([v.assign(3), ref.assign(200)])
        assert session.run(following).tolist() == [106, 109]  # v is read anew, ref was captured
        session.run(iterator.initializer, {size: 3})
        assert session.run(following).tolist() == [200, 203, 206]


def test_the_end_of_the_data_ends_a_monitored_session():
    value = Dataset.range(5).make_one_shot_iterator().get_next()
    step = tf.train.get_or_create_global_step()
    train = tf.group(tf.assign_add(step, 1), value)
    count = 0
    with tf.train.MonitoredTrainingSession() as session:
        while not session.should_stop():
            session.run(train)
            count += 1
    assert count == 5 or session.should_stop()


def test_an_initializer_may_be_a_local_init_op():
    iterator = Dataset.range(3).make_initializable_iterator()
    tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
    value = iterator.get_next()
    with tf.train.MonitoredTrainingSession() as session:
        assert session.run(value) == 0


def test_gradients_end_at_the_elements():
    x = Dataset.from_tensors([2.0, 3.0]).repeat().make_one_shot_iterator().get_next()
    w = tf.Variable([1.0, 1.0])
    (dw,) = tf.gradients(tf.reduce_sum(x * w), [w])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(dw).tolist() == [2.0, 3.0]


def test_a_fetched_batch_is_the_programs_own():
    rows = np.arange(6.0)
    iterator = Dataset.from_tensors(rows).repeat().make_one_shot_iterator()
    value = iterator.get_next()
    with tf.Session() as session:
        session.run(value)[:] = -1
        assert session.run(value).tolist() == rows.tolist()


def test_closing_a_session_ends_the_threads_that_work_ahead():
    value = Dataset.range(10**9).prefetch(3).make_one_shot_iterator().get_next()
    with tf.Session() as session:
        session.run(value)
        busy = prefetching()
        assert busy
        state = list(session._master._own._sessions.values())[0].resources
        (iterator,) = [r for (_, kind, _), r in state.items() if kind == "iterator"]
    assert iterator._run is not None
    assert state.items() == []
    deadline = time.monotonic() + 5
    from minitf_runtime.ops.datasets import ahead

    while ahead._threads._idle < len(prefetching()) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert ahead._threads._idle >= len(prefetching())


def test_a_timeout_ends_a_step_that_waits_for_the_thread_ahead():
    gate = threading.Event()

    def slow():
        yield 1
        gate.wait(20)
        yield 2

    d = Dataset.from_generator(slow, tf.int32).prefetch(1)
    value = d.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert session.run(value) == 1
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(value, options=tf.RunOptions(timeout_in_ms=200))
        gate.set()
        assert session.run(value) == 2


def test_closing_ends_a_filter_that_keeps_nothing():
    value = Dataset.range(10**12).filter(lambda i: i < 0).make_one_shot_iterator().get_next()
    session = tf.Session()
    outcome = []

    def work():
        try:
            session.run(value)
        except tf.errors.OpError as e:
            outcome.append(e)

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(0.3)
    session.close()
    thread.join(10)
    assert not thread.is_alive()
    assert isinstance(outcome[0], tf.errors.CancelledError)


def test_an_error_in_a_function_says_all():
    d = Dataset.range(3).map(lambda i: tf.gather([1.0], tf.cast(i, tf.int32), name="bad"))
    value = d.prefetch(1).make_one_shot_iterator().get_next("following")
    with tf.Session() as session:
        assert session.run(value) == 1.0
        with pytest.raises(tf.errors.InvalidArgumentError) as e:
            session.run(value)
        for told in ("indices = 1 is not in [0, 1)", "{{node bad}}", "Dataset_map", "following"):
            assert told in str(e.value)
        assert str(e.value).count("test_iterators.py") == 3
        assert e.value.op is value.op


def test_tensors_of_other_graphs_and_functions_are_refused():
    kept = []
    Dataset.range(2).map(lambda i: kept.append(i) or i)
    with pytest.raises(ValueError, match="defined in another function or graph"):
        Dataset.range(2).map(lambda i: i + kept[0])
    with tf.Graph().as_default():
        other = tf.constant(1, tf.int64)
    with pytest.raises(ValueError, match="defined in another function or graph"):
        Dataset.range(2).map(lambda i: i + other)


def test_options_are_merged_and_checked():
    options = tf.data.Options()
    options.experimental_optimization.map_fusion = True
    options.experimental_optimization.autotune = False
    options.experimental_threading.private_threadpool_size = 2
    d = Dataset.range(2).with_options(options).map(lambda i: i)
    iterator = d.make_initializable_iterator()
    ops = [op.type for op in tf.get_default_graph().get_operations() if "Dataset" in op.type]
    assert ops == ["RangeDataset", "MapDataset", "PrivateThreadPoolDataset", "OptimizeDataset"]
    with tf.Session() as session:
        session.run(iterator.initializer)
        assert session.run(iterator.get_next()) == 0
    with pytest.raises(AttributeError, match="no_such"):
        options.no_such = 1
    with pytest.raises(TypeError, match="must be of type"):
        options.experimental_slack = "yes"
    other = tf.data.Options()
    other.experimental_optimization.autotune = True
    with pytest.raises(ValueError, match="incompatible values of option: autotune"):
        d.with_options(other)


def test_a_meta_graph_has_the_functions(tmp_path):
    d = Dataset.range(6).filter(lambda i: i > 2).map(lambda i: tf.py_func(abs, [-i], tf.int64))
    d = d.map(lambda i: tf.while_loop(lambda k: k < 9, lambda k: k + 4, [i])).prefetch(1)
    value = d.make_one_shot_iterator().get_next()
    again = Dataset.range(3).flat_map(Dataset.range).make_initializable_iterator()
    tf.identity(value, name="value")
    tf.identity(again.get_next(), name="again")
    tf.group(again.initializer, name="begin")
    saved = tf.train.export_meta_graph(str(tmp_path / "model.meta"), as_text=True)
    assert len(saved.graph_def.library.function) == 5
    with tf.Graph().as_default():
        tf.train.import_meta_graph(str(tmp_path / "model.meta"))
        with tf.Session() as session:
            assert [session.run("value:0") for _ in range(3)] == [11, 12, 9]
            session.run("begin")
            assert [session.run("again:0") for _ in range(3)] == [0, 0, 1]
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run("again:0")


@pytest.mark.oracle
def test_tensorflow_reads_our_functions(tmp_path, oracle):
    d = Dataset.from_tensor_slices(np.arange(6)).shuffle(6, seed=1)
    d = d.map(lambda i: (i, tf.cond(i < 3, lambda: i, lambda: -i))).repeat(2).batch(4)
    value = d.make_one_shot_iterator().get_next()
    tf.stack(value, name="value")
    path = str(tmp_path / "model.meta")
    tf.train.export_meta_graph(path)
    said = oracle(f"""
        import tensorflow as tf
        tf.train.import_meta_graph({path!r})
        with tf.Session() as session:
            print([session.run("value:0").tolist() for _ in range(3)])
        """)
    with tf.Session() as session:
        assert said.strip() == str([session.run("value:0").tolist() for _ in range(3)])


def test_an_estimator_takes_datasets(tmp_path):
    def input_fn():
        x = np.arange(8, dtype=np.float32).reshape(8, 1)
        return Dataset.from_tensor_slices(({"x": x}, 2 * x)).shuffle(8, seed=1).repeat(20).batch(4)

    def model_fn(features, labels, mode):
        w = tf.get_variable("w", [1, 1], initializer=tf.zeros_initializer())
        loss = tf.reduce_mean((tf.matmul(features["x"], w) - labels) ** 2)
        step = tf.train.get_or_create_global_step()
        train = tf.train.GradientDescentOptimizer(0.02).minimize(loss, step)
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)

    tf.logging.set_verbosity(tf.logging.ERROR)
    estimator = tf.estimator.Estimator(model_fn, str(tmp_path))
    estimator.train(input_fn)
    assert estimator.get_variable_value("global_step") == 40
    assert estimator.get_variable_value("w") == pytest.approx(2, abs=0.01)
    assert estimator.evaluate(input_fn)["loss"] < 0.01


def test_names_of_contrib():
    d = Dataset.range(7).apply(tf.contrib.data.batch_and_drop_remainder(3))
    d = d.apply(tf.contrib.data.unbatch()).apply(tf.contrib.data.map_and_batch(lambda i: -i, 4))
    value = d.make_one_shot_iterator().get_next()
    assert tf.compat.v1.data.get_output_types(d) == tf.int64
    assert tf.compat.v1.data.get_output_shapes(d).as_list() == [None]
    assert tf.compat.v1.data.get_output_classes(d) is tf.Tensor
    with tf.Session() as session:
        assert [session.run(value).tolist() for _ in range(2)] == [[0, -1, -2, -3], [-4, -5]]


def test_files_are_listed(tmp_path):
    for name in "cab":
        (tmp_path / f"{name}.txt").write_text(name)
    pattern = str(tmp_path / "*.txt")
    in_order = Dataset.list_files(pattern, shuffle=False).flat_map(tf.data.TextLineDataset)
    shuffled = Dataset.list_files(pattern, seed=1).map(tf.read_file)
    none = Dataset.list_files(str(tmp_path / "*.csv"))
    iterators = [d.make_initializable_iterator() for d in (in_order, shuffled, none)]
    ordered, mixed, _ = (i.get_next() for i in iterators)
    with tf.Session() as session:
        session.run([i.initializer for i in iterators[:2]])
        assert [session.run(ordered) for _ in "abc"] == [b"a", b"b", b"c"]
        assert sorted(session.run(mixed) for _ in "abc") == [b"a", b"b", b"c"]
        with pytest.raises(tf.errors.InvalidArgumentError, match="No files matched pattern"):
            session.run(iterators[2].initializer)
