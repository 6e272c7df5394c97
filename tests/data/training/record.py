"""What tf.train adds to a graph beside the plain optimizers. With a real TensorFlow 1.15:

PYTHONPATH=../.. TF=tensorflow python record.py > graphs.json.gz
"""

import numpy as np

from recording import main, names, outcome


def evaluate(tf, values, feeds, after=None):
    """Values in a new session for each feed, each followed by the op `after`."""
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for feed in feeds:
            yield [["%.5f" % x for x in np.ravel(v)] for v in session.run(values, feed)]
            if after is not None:
                session.run(after)


def decays(tf):
    train = tf.train
    step = tf.placeholder(tf.int64, [], name="step")
    real = tf.cast(step, tf.float32)
    rates = [
        train.exponential_decay(0.1, step, 10, 0.5),
        train.exponential_decay(0.1, step, 10, 0.5, staircase=True, name="stairs"),
        train.natural_exp_decay(0.1, step, 10, 0.5),
        train.inverse_time_decay(0.1, step, 10, 0.5, staircase=True),
        train.piecewise_constant(step, [3, 6], [1.0, 0.5, 0.1]),
        train.piecewise_constant_decay(real, [3.0], [1.0, 0.1], name="pieces"),
        train.polynomial_decay(0.1, step, 10),
        train.polynomial_decay(0.1, step, 4, power=0.5, cycle=True),
        train.cosine_decay(0.1, step, 10, alpha=0.1),
        train.cosine_decay_restarts(0.1, step, 3, t_mul=2.0, m_mul=0.8),
        train.cosine_decay_restarts(0.1, step, 3, t_mul=1.0),
        train.linear_cosine_decay(0.1, step, 10),
    ]
    train.noisy_linear_cosine_decay(0.1, step, 10)
    yield outcome(lambda: train.piecewise_constant(step, [3.0], [1.0, 0.1]))
    yield outcome(lambda: train.piecewise_constant(step, [3], [1.0]))
    yield outcome(lambda: train.piecewise_constant(step, [3], [1.0, 2]))
    yield from evaluate(tf, rates, [{step: k} for k in (0, 1, 3, 4, 7, 11, 25)])


def averages(tf):
    w = tf.get_variable("w", initializer=np.ones([2], "f"))
    r = tf.get_variable("r", initializer=np.ones([3], "f"), use_resource=True)
    n = tf.Variable(1, name="n", trainable=False)
    t = tf.constant([0.5, 0.5]) * tf.cast(n, tf.float32)
    grow = tf.group(tf.assign_add(w, [1.0, 2.0]), r.assign_add([1.0, 1.0, 1.0]), name="grow")
    with tf.control_dependencies([grow]):
        average = tf.train.ExponentialMovingAverage(0.9, zero_debias=True)
        update = average.apply([w, r, t])
    counted = tf.train.ExponentialMovingAverage(0.99, num_updates=n, name="Counted")
    more = counted.apply([w])
    yield counted.apply([w, r]).name
    yield "%s %s" % (update.name, more.name)
    yield names([average.average(v) for v in (w, r, t)])
    yield average.average(n)
    yield "%s %s" % (average.average_name(w), average.average_name(n))
    yield sorted(average.variables_to_restore())
    yield sorted(counted.variables_to_restore([w]))
    yield names(tf.moving_average_variables())
    yield outcome(lambda: average.apply([n]))
    watched = [w, r, average.average(w), average.average(r), average.average(t)]
    yield from evaluate(tf, watched + [counted.average(w)], [{}] * 3, update)


def optimizers(tf):
    """Names, slots and collections of several optimizers on the same variables."""
    train = tf.train
    step = train.get_or_create_global_step()
    w = tf.get_variable("w", initializer=np.ones([2, 2], "f"), constraint=lambda v: v * 0.9)
    r = tf.get_variable("r", initializer=np.ones([3], "f"), use_resource=True, constraint=tf.abs)
    p = tf.get_variable(
        "p", [5, 2], initializer=tf.ones_initializer(), partitioner=tf.fixed_size_partitioner(2)
    )
    loss = tf.reduce_sum(tf.square(w)) + tf.reduce_sum(r) * 2.0 + tf.reduce_sum(p)
    with tf.variable_scope("scope"):
        adam = train.AdamOptimizer(0.1)
        first = adam.minimize(loss, step, gate_gradients=2)
    rate = train.exponential_decay(0.1, step, 1, 0.5)
    momentum = train.MomentumOptimizer(rate, tf.constant(0.9), name="Mom")
    pairs = momentum.compute_gradients(loss, [w, r], gate_gradients=0)
    second = momentum.apply_gradients(pairs, name="second")
    third = train.MomentumOptimizer(lambda: 0.1, 0.9).minimize(loss, var_list=[r])
    yield "%s %s %s" % (first.name, second.name, third.name)
    yield adam.get_slot_names()
    yield names(adam.variables())
    yield momentum.get_slot(w, "momentum")
    yield momentum.get_slot(w, "absent")
    infos = [adam.get_slot(v, "v")._get_save_slice_info() for v in p]
    yield " / ".join("%s %s" % (i.full_name, i.spec) for i in infos)
    yield [op.name for op in tf.get_collection("train_op")]
    yield from evaluate(tf, [w, r, adam.get_slot(w, "m")], [{}] * 3, [first])
    yield from evaluate(tf, [w, r, momentum.get_slot(r, "momentum")], [{}] * 3, [second])


def optimizer_errors(tf):
    train = tf.train
    w = tf.get_variable("w", initializer=np.ones([2], "f"))
    loss = tf.reduce_sum(w)
    sgd = train.GradientDescentOptimizer(0.1)
    for call in (
        lambda: sgd.minimize(tf.constant(1.0)),
        lambda: sgd.minimize(loss, var_list=[]),
        lambda: sgd.compute_gradients(loss, gate_gradients=7),
        lambda: sgd.apply_gradients([]),
        lambda: sgd.apply_gradients([(None, w)]),
        lambda: sgd.apply_gradients([("x", w)]),
        lambda: sgd.minimize(loss, var_list=[tf.constant(1.0)]),
        lambda: train.GradientDescentOptimizer(0.1, name=""),
        lambda: train.AdagradOptimizer(0.1, 0.0),
        lambda: train.ProximalAdagradOptimizer(0.1, 0.0),
        lambda: train.AdagradDAOptimizer(0.1, None, 0.0),
        lambda: train.FtrlOptimizer(0.1, 1.0),
        lambda: train.FtrlOptimizer(0.1, l1_regularization_strength=-1.0),
        lambda: sgd.get_name(),
    ):
        yield outcome(call)


def global_steps(tf):
    train = tf.train
    yield train.get_global_step()
    step = train.create_global_step()
    yield "%s %s" % (step, train.get_global_step() is step)
    yield train.get_or_create_global_step() is step
    yield names(tf.get_collection("global_step"))
    yield outcome(lambda: train.create_global_step())
    yield outcome(lambda: train.assert_global_step(3))
    yield outcome(lambda: train.assert_global_step(tf.constant(1.0, name="real")))
    yield outcome(lambda: train.assert_global_step(tf.constant([1], name="vector")))


PROGRAMS = {
    program.__name__: program
    for program in (decays, averages, optimizers, optimizer_errors, global_steps)
}

if __name__ == "__main__":
    main(PROGRAMS)
