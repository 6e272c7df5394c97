"""What monitored sessions, hooks and supervisors do and add to a graph. With a real TF 1.15:

PYTHONPATH=../.. TF=tensorflow python record.py > runs.json.gz
"""

from functools import partial

import numpy as np

from recording import main, outcome


def counter(tf):
    """A step that adds one to the global step, and a variable that grows by two."""
    step = tf.train.get_or_create_global_step()
    v = tf.get_variable("v", initializer=np.float32(1))
    with tf.control_dependencies([tf.assign_add(v, 2.0)]):
        return v, step, tf.assign_add(step, 1, name="train")


def watcher(tf, said, name="hook", **does):
    """A hook that notes its calls; `does` gives a function for some of them."""

    class Watcher(tf.train.SessionRunHook):
        def begin(self):
            return self.note("begin")

        def after_create_session(self, session, coord):
            return self.note("after_create_session", session, coord)

        def before_run(self, run_context):
            return self.note("before_run", run_context)

        def after_run(self, run_context, run_values):
            return self.note("after_run", run_context, run_values)

        def end(self, session):
            return self.note("end", session)

        def note(self, call, *args):
            said.append("%s.%s" % (name, call))
            return does[call](*args) if call in does else None

    return Watcher()


def calls_of_hooks(tf):
    said = []
    v, step, train = counter(tf)
    args = tf.train.SessionRunArgs

    def results(context, values):
        got = None if values.results is None else [int(x) for x in values.results]
        said.append("%s %s" % (got, context.original_args.fetches is train))

    def stop_at_two(context, values):
        if values.results["step"] >= 2:
            context.request_stop()

    hooks = [
        watcher(tf, said, "a", before_run=lambda c: args([train]), after_run=results),
        watcher(tf, said, "b", before_run=lambda c: args({"step": train}), after_run=stop_at_two),
        watcher(tf, said, "c", after_run=results),
    ]
    with tf.train.MonitoredTrainingSession(hooks=hooks) as sess:
        yield "%s %s" % (sess.graph is tf.get_default_graph(), sess.graph.finalized)
        while not sess.should_stop():
            said.append(str(sess.run(train)))
        said.append(outcome(lambda: sess.run(train)))
    yield "%s %s" % (sess.should_stop(), tf.get_default_graph().finalized)
    yield from said


def feeds_of_hooks(tf):
    x, y, z = (tf.placeholder(tf.float32, [], name=n) for n in "xyz")
    total = tf.add_n([x, y, z])

    def fed(**feeds):
        return tf.train.FeedFnHook(
            lambda: {{"x": x, "y": y, "z": z}[k]: v for k, v in feeds.items()}
        )

    hooks = [fed(x=1.0), fed(y=20.0)]
    with tf.train.MonitoredSession(hooks=hooks) as sess:
        yield sess.run(total, {z: 300.0})
        yield outcome(lambda: sess.run(total, {z: 1.0, y: 2.0})).split(" Conflict")[0]
    with tf.train.MonitoredSession(hooks=[fed(x=1.0), fed(x=2.0)]) as sess:
        yield outcome(lambda: sess.run(total)).split(" Conflict")[0]


def options_of_hooks(tf):
    said = []
    v, step, train = counter(tf)
    options = tf.RunOptions(timeout_in_ms=9000)

    def wanted(context):
        return tf.train.SessionRunArgs(None, options=options)

    def seen(context, values):
        said.append("%d %d" % (values.options.timeout_in_ms, values.options.trace_level))

    hook = watcher(tf, [], before_run=wanted, after_run=seen)
    with tf.train.MonitoredSession(hooks=[hook]) as sess:
        sess.run(train)
        sess.run(train, options=tf.RunOptions(timeout_in_ms=20000, trace_level=1))
    yield from said


def ends_of_a_session(tf):
    v, step, train = counter(tf)
    item = tf.train.limit_epochs(tf.constant(5), 2)
    said = []

    def block(body):
        with tf.train.MonitoredSession(hooks=[watcher(tf, said)]) as sess:
            body(sess)

    def until_the_input_ends(sess):
        while True:
            said.append(str(sess.run(item)))

    def stop_iteration(sess):
        raise StopIteration("enough")

    def own_error(sess):
        sess.run(step)
        raise KeyError("mine")

    def op_error(sess):
        sess.run(tf.get_default_graph().get_tensor_by_name("bad:0"))

    tf.check_numerics(tf.placeholder_with_default(np.float32("nan"), []), "checked", name="bad")
    for body in (until_the_input_ends, stop_iteration, own_error, op_error):
        said.append(outcome(partial(block, body)).split(" : ")[0].split("\n")[0])
    sess = tf.train.MonitoredSession()
    sess.close()
    said.append(outcome(sess.close))
    yield from said


def recovery(tf):
    """A lost task makes a new session; in one process its variables begin anew."""
    said = []
    v, step, train = counter(tf)
    left = [3]

    def lose_at_second_run(context):
        left[0] -= 1
        if left[0] in (1, 0):
            raise (tf.errors.AbortedError if left[0] else tf.errors.UnavailableError)(
                None, None, ""
            )

    hook = watcher(tf, said, before_run=lose_at_second_run)
    with tf.train.MonitoredSession(hooks=[hook]) as sess:
        said.append(str(sess.run(train)))
        said.append(str(sess.run(train)))
        said.append(str(sess.run(train)))
    left[0] = 2
    with tf.train.SingularMonitoredSession(hooks=[hook]) as sess:
        said.append(outcome(lambda: sess.run(train)).split(":")[0])
    yield from said


def step_functions(tf):
    said = []
    v, step, train = counter(tf)

    def two_steps(step_context):
        step_context.session.run(train)
        return step_context.run_with_hooks(train)

    def stopping(step_context):
        step_context.request_stop()

    class Holder:
        def method(self, step_context):
            return int(step_context.run_with_hooks(step))

    with tf.train.MonitoredSession(hooks=[watcher(tf, said)]) as sess:
        said.append(str(sess.run_step_fn(two_steps)))
        said.append(str(sess.run_step_fn(Holder().method)))
        said.append(outcome(lambda: sess.run_step_fn(lambda a, b: 1))[:60])
        sess.run_step_fn(stopping)
        said.append("not reached")
    yield from said


def stopping_at_a_step(tf):
    v, step, train = counter(tf)
    hooks = tf.train
    yield outcome(lambda: hooks.StopAtStepHook())
    yield outcome(lambda: hooks.StopAtStepHook(1, 2))
    for hook in (hooks.StopAtStepHook(num_steps=3), hooks.StopAtStepHook(last_step=4)):
        runs = 0
        with tf.train.MonitoredSession(hooks=[hook]) as sess:
            while not sess.should_stop():
                sess.run(train)
                runs += 1
        yield runs
    with tf.Graph().as_default():
        tf.constant(1)
        hook = hooks.StopAtStepHook(num_steps=3)
        yield outcome(lambda: tf.train.MonitoredSession(hooks=[hook]))


def logging_tensors(tf):
    said = []
    x = tf.placeholder_with_default(np.float32(9), [], name="x")
    y = tf.multiply(x, 2.0, name="y")
    hook = tf.train.LoggingTensorHook

    def show(values):
        said.append(str(sorted((str(k), float(v)) for k, v in values.items())))
        return "shown"

    hooks = [
        hook({"twice": y, "once": x}, every_n_iter=2, formatter=show),
        hook(["y"], every_n_iter=3, at_end=True, formatter=show),
        hook(["y:0"], at_end=True, formatter=show),
    ]
    with tf.train.MonitoredSession(hooks=hooks) as sess:
        for k in range(5):
            sess.run(y, {x: k})
            said.append("-")
    yield from said
    yield outcome(lambda: hook(["y"]))
    yield outcome(lambda: hook(["y"], every_n_iter=1, every_n_secs=1))
    yield outcome(lambda: hook(["y"], every_n_iter=0))
    other = tf.Graph()
    with other.as_default():
        foreign = tf.constant(1)
    yield outcome(lambda: hook([foreign], every_n_iter=1).begin())[:40]
    tf.split(tf.ones([4]), 2, name="halves")
    yield outcome(lambda: hook(["halves"], every_n_iter=1).begin())


def nan_losses(tf):
    x = tf.placeholder(tf.float32, [])
    loss = x / 0.0

    def block(hook):
        with tf.train.MonitoredSession(hooks=[hook]) as sess:
            sess.run(loss, {x: 1.0})
            sess.run(loss, {x: 0.0})
            return sess.should_stop()

    for fail in (True, False):
        hook = tf.train.NanTensorHook(loss, fail)
        yield outcome(partial(block, hook))


def final_ops(tf):
    v, step, train = counter(tf)
    hook = tf.train.FinalOpsHook([v, step])
    with tf.train.MonitoredSession(hooks=[hook]) as sess:
        sess.run(train)
        sess.run(train)
        yield hook.final_ops_values
    yield [float(x) for x in hook.final_ops_values]
    waiter = tf.train.GlobalStepWaiterHook(0)
    with tf.train.MonitoredSession(hooks=[waiter]) as sess:
        yield sess.run(train)


def timers(tf):
    timer = tf.train.SecondOrStepTimer
    yield outcome(timer)
    yield outcome(lambda: timer(1, 1))
    by_step = timer(every_steps=3)
    yield by_step.last_triggered_step()
    for step in (5, 5, 6, 7, 8, 11, 20):
        due = by_step.should_trigger_for_step(step)
        if due:
            elapsed = by_step.update_last_triggered_step(step)
        yield "%d %s %s %s" % (step, due, by_step.last_triggered_step(), elapsed[1])
    by_time = timer(every_secs=1000)
    by_time.update_last_triggered_step(1)
    yield by_time.should_trigger_for_step(10)
    by_time.reset()
    yield by_time.should_trigger_for_step(10)


def scaffolds(tf):
    said = []
    v, step, train = counter(tf)
    local = tf.get_local_variable("local", initializer=np.float32(7))
    x = tf.placeholder(tf.float32, [])
    with tf.control_dependencies([tf.global_variables_initializer()]):
        init = tf.assign(v, x, name="set_v").op

    def init_fn(scaffold, session):
        said.append("%s %s" % (scaffold is given, session.run(v)))

    given = tf.train.Scaffold(init_op=init, init_feed_dict={x: 5.0}, init_fn=init_fn)
    with tf.train.MonitoredTrainingSession(scaffold=given) as sess:
        yield [float(y) for y in sess.run([v, local])]
    yield from said
    ops = (given.ready_op, given.ready_for_local_init_op, given.local_init_op, given.init_op)
    yield [op.name for op in ops]
    yield "%s %s" % (given.summary_op, given.saver is tf.get_collection("savers")[0])
    copy = tf.train.Scaffold(init_op=tf.no_op(), copy_from_scaffold=given)
    yield "%s %s" % (copy.ready_op is given.ready_op, copy.init_op is given.init_op)
    yield outcome(lambda: tf.train.Scaffold(copy_from_scaffold=3))
    tf.add_to_collection(tf.GraphKeys.READY_OP, given.ready_op)
    yield outcome(lambda: tf.train.Scaffold().finalize()).split(":")[0]
    yield tf.train.Scaffold.get_or_default("x", "nothing", lambda: None)


def uninitialized(tf):
    v, step, train = counter(tf)
    manager = tf.train.SessionManager
    nothing = tf.no_op()
    report = tf.report_uninitialized_variables()
    yield outcome(lambda: manager(ready_for_local_init_op=report))[:60]
    yield outcome(lambda: manager().prepare_session(""))
    yield outcome(lambda: manager(ready_op=report).prepare_session("", init_op=nothing))
    careful = manager(ready_for_local_init_op=report, local_init_op=nothing)
    yield outcome(lambda: careful.prepare_session("", init_op=nothing))
    failing = manager(ready_op=tf.assert_variables_initialized())
    yield outcome(lambda: failing.prepare_session("", init_op=nothing))[:60]
    waiting = manager(ready_op=report, recovery_wait_secs=1)
    yield outcome(lambda: waiting.wait_for_session("", max_wait_secs=0))
    sess, recovered = manager(ready_op=report).recover_session("")
    yield recovered
    init = tf.global_variables_initializer()
    sess = manager(ready_op=report).prepare_session(
        "", init_op=init, init_fn=lambda s: s.run(train)
    )
    yield int(sess.run(step))
    yield outcome(
        lambda: manager().prepare_session(
            "", checkpoint_dir="a", checkpoint_filename_with_path="b", init_op=init
        )
    )


def supervisors(tf):
    v, step, train = counter(tf)
    tf.get_local_variable("local", initializer=np.float32(7))
    sv = tf.train.Supervisor(logdir=None)
    yield "%s %s %s" % (sv.is_chief, sv.global_step is step, tf.get_default_graph().finalized)
    yield [op.name for op in (sv.init_op, sv.ready_op)]
    yield "%s %s" % (sv.ready_for_local_init_op, sv.summary_op)
    calls = []
    with sv.managed_session() as sess:
        thread = sv.loop(0.001, lambda: calls.append(1) or (len(calls) > 2 and sv.request_stop()))
        sv.wait_for_stop()
        thread.join()
        yield "%d %s" % (len(calls), sv.should_stop())
        yield sess.run(train)

    def failing():
        with sv.managed_session(), sv.stop_on_exception():
            raise KeyError("in a thread")

    yield outcome(failing)

    def ending():
        with sv.managed_session():
            raise tf.errors.OutOfRangeError(None, None, "the end")

    yield outcome(ending)
    yield outcome(lambda: sv.summary_computed(sess, "x"))
    with tf.Graph().as_default():
        with tf.device("/cpu:0"):
            tf.Variable(1)
        other = tf.train.Supervisor(is_chief=False, saver=None, init_op=None, global_step=None)
        yield "%s %s %s" % (other.saver, other.init_op, other.global_step)
        yield outcome(lambda: other.start_standard_services(None))[:60]


def synchronized(tf):
    """The graph with a dense, a sparse and no gradient, and averages of the variables."""
    step = tf.train.get_or_create_global_step()
    w = tf.get_variable("w", initializer=np.ones([4, 2], "f"))
    b = tf.get_variable("b", initializer=np.ones([2], "f"))
    unused = tf.get_variable("unused", initializer=np.ones([2], "f"))
    rows = tf.gather(w, [0, 2])
    loss = tf.reduce_sum(rows * b)
    averages = tf.train.ExponentialMovingAverage(0.9)
    inner = tf.train.MomentumOptimizer(0.1, 0.9)
    opt = tf.train.SyncReplicasOptimizer(
        inner, 3, 2, variable_averages=averages, variables_to_average=[w, b]
    )
    yield outcome(lambda: opt.make_session_run_hook(True).begin())
    yield outcome(lambda: opt.apply_gradients([]))
    pairs = opt.compute_gradients(loss, [w, b, unused])
    yield opt.apply_gradients(pairs, step).name
    yield outcome(lambda: opt.get_init_tokens_op(0))
    yield "%s %s" % (opt.get_init_tokens_op(1).name, opt.get_init_tokens_op().name)
    yield "%s %s" % (opt.get_slot_names(), [v.name for v in opt.variables()])
    yield opt.get_slot(w, "momentum").name
    yield [op.name for op in opt.get_chief_queue_runner().enqueue_ops]


PROGRAMS = {
    p.__name__: p
    for p in (
        calls_of_hooks, feeds_of_hooks, options_of_hooks, ends_of_a_session, recovery,
        step_functions, stopping_at_a_step, logging_tensors, nan_losses, final_ops, timers,
        scaffolds, uninitialized, supervisors,
        synchronized,
    )
}  # fmt: skip

if __name__ == "__main__":
    main(PROGRAMS)
