"""Distributions of TensorFlow 1.15.5: the graphs, and the numbers they give.

TF=tensorflow PYTHONPATH=tests PYTHON tests/data/distributions/record.py > recorded.json.gz
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from data.seq2seq.record import record  # noqa: E402
from recording import main, outcome  # noqa: E402

PROGRAMS = {}


def program(fn):
    PROGRAMS[fn.__name__] = fn
    return fn


ASKED = "mean variance stddev mode entropy batch_shape_tensor event_shape_tensor".split()
AT = "log_prob prob cdf log_cdf survival_function log_survival_function".split()


def explored(tf, dist, value, shape=(2,), skip=""):
    """Samples, all that a distribution tells, and gradients of samples and probabilities."""
    sample = dist.sample(shape, seed=5)
    found = [sample, dist.sample(seed=3)]
    for name in ASKED:
        if name not in skip.split():
            found.append(getattr(dist, name)())
    for name in AT:
        if name not in skip.split():
            found.append(getattr(dist, name)(value))
    said = [x.shape for x in found] + [
        str(dist).split(",")[0], dist.name, dist.dtype.name, dist.batch_shape, dist.event_shape,
        repr(dist.reparameterization_type), sorted(dist.parameters),
        dist.allow_nan_stats, dist.validate_args,
    ]  # fmt: skip
    found += [dist.is_scalar_event(), dist.is_scalar_batch()]
    return found, said


@program
def normal(tf):
    loc, scale = tf.constant([0.5, -1.0]), tf.constant([[1.0], [2.0], [0.1]])
    dist = tf.distributions.Normal(loc=loc, scale=scale)
    found, said = explored(tf, dist, [0.3, -12.0], shape=3)
    other = tf.distributions.Normal(0.0, 1.0, name="other")
    found += [
        tf.distributions.kl_divergence(dist, other), dist.kl_divergence(other),
        other.cross_entropy(dist), dist.copy(scale=4.0).sample([], seed=1),
    ]  # fmt: skip
    return found + tf.gradients([found[0], dist.log_prob(0.2)], [loc, scale]), said


@program
def checked_normal(tf):
    dist = tf.distributions.Normal(
        tf.placeholder_with_default([1.0, 2.0], [None]), [1.0, 3.0], validate_args=True,
        allow_nan_stats=False, name="mine",
    )  # fmt: skip
    count = tf.placeholder_with_default([2, 1], [None])
    found = [dist.sample(count, seed=2), dist.sample(tf.placeholder_with_default(3, []), seed=2)]
    found += [dist.batch_shape_tensor(), dist.kl_divergence(dist)]
    return found, [x.shape for x in found]


@program
def categorical(tf):
    logits = tf.constant([[0.1, 1.0, -1.0], [2.0, 0.0, 0.3]])
    dist = tf.distributions.Categorical(logits=logits)
    skip = "mean variance stddev"
    found, said = explored(tf, dist, [2, 0], shape=[4], skip=skip)
    probs = tf.distributions.Categorical(probs=[0.2, 0.3, 0.5], dtype=tf.int64)
    more, rest = explored(tf, probs, [[2, 0, 1]], skip=skip)
    found += more + [dist.kl_divergence(probs), dist.log_prob([[0, 1], [1, 2], [2, 2]])]
    found += [dist.event_size, probs.prob(1.0)]
    return found + tf.gradients(dist.log_prob([1, 1]), logits), said + rest


@program
def categorical_of_unknown_size(tf):
    logits = tf.placeholder_with_default([[0.1, 1.0, -1.0], [2.0, 0.0, 0.3]], [None, None])
    dist = tf.distributions.Categorical(logits)
    found = [dist.sample(seed=1), dist.log_prob(dist.sample(seed=2)), dist.entropy(), dist.mode()]
    found += [dist.batch_shape_tensor(), dist.event_size]
    loss = -tf.reduce_mean(dist.log_prob([1, 2]) * [1.0, -0.5]) - 0.01 * dist.entropy()
    return found + tf.gradients(loss, logits), [x.shape for x in found]


@program
def bernoulli(tf):
    logits = tf.constant([[0.1, 1.0, -1.0], [2.0, 0.0, 0.3]])
    dist = tf.distributions.Bernoulli(logits=logits)
    skip = "cdf log_cdf survival_function log_survival_function"
    found, said = explored(tf, dist, [[1, 0, 1]], shape=[4], skip=skip)
    probs = tf.distributions.Bernoulli(probs=[0.2, 0.3, 0.5], dtype=tf.float32, name="b")
    more, rest = explored(tf, probs, [1.0, 0.0, 1.0], skip=skip)
    found += more + [dist.kl_divergence(probs)]
    return found + tf.gradients(dist.log_prob(1), logits), said + rest


@program
def uniform(tf):
    dist = tf.distributions.Uniform(tf.constant([0.0, 1.0]), [[1.5], [3.0]])
    found, said = explored(tf, dist, [0.5, 1.6], skip="mode")
    more, rest = explored(tf, tf.distributions.Uniform(), 0.3, skip="mode")
    return found + more + [dist.range()], said + rest


@program
def laplace(tf):
    dist = tf.distributions.Laplace([0.5, -1.0], scale=2.0)
    return explored(tf, dist, [0.3, -1.2], skip="log_cdf log_survival_function")


@program
def gammas(tf):
    alpha = tf.constant([1.5, 3.0])
    dist = tf.distributions.Gamma(alpha, rate=2.0)
    found, said = explored(tf, dist, [0.3, 1.2])
    exponential = tf.distributions.Exponential([0.5, 2.0])
    more, rest = explored(tf, exponential, [0.3, 1.2])
    beta = tf.distributions.Beta(alpha, [0.5, 2.0])
    last, end = explored(tf, beta, [0.3, 0.9])
    found += (
        more
        + last
        + [dist.kl_divergence(exponential), beta.kl_divergence(beta.copy(concentration0=3.0))]
    )
    return found + tf.gradients([dist.log_prob(1.0), beta.log_prob(0.5)], alpha), said + rest + end


@program
def dirichlet(tf):
    dist = tf.distributions.Dirichlet([[1.5, 2.0, 3.0], [0.5, 1.0, 2.0]])
    skip = "mode cdf log_cdf survival_function log_survival_function"
    found, said = explored(tf, dist, [0.2, 0.3, 0.5], skip=skip)
    other = tf.distributions.Dirichlet([1.0, 1.0, 2.0])
    return found + [dist.covariance(), dist.kl_divergence(other)], said


@program
def student(tf):
    dist = tf.distributions.StudentT(df=[0.5, 1.5, 3.0], loc=1.0, scale=2.0)
    found, said = explored(tf, dist, [0.3, -1.2, 4.0])
    return found, said


@program
def multinomial(tf):
    d = tf.distributions
    skip = "mode entropy cdf log_cdf survival_function log_survival_function"
    dist = d.Multinomial([4.0], logits=[0.1, 1.0, -1.0])  # rows are drawn in no order
    found, said = explored(tf, dist, [[1.0, 2.0, 1.0]], skip=skip)
    checked = d.Multinomial(3.0, probs=[0.2, 0.3, 0.5], validate_args=True)
    found += [dist.covariance(), checked.prob([1.0, 1.0, 1.0]), checked.sample(2, seed=2)]
    return found, said


@program
def checked_values(tf):
    d = tf.distributions
    classes = d.Categorical(probs=[0.2, 0.3, 0.5], validate_args=True)
    bits = d.Bernoulli(probs=[0.2, 0.3], validate_args=True)
    found = [classes.log_prob(tf.constant(2.0)), classes.log_prob(1)]
    found += [classes.cdf([1, 2, 3]), bits.log_prob([1, 0]), bits.log_prob([1.0, 0.0])]
    found += [d.Gamma(2.0, 3.0, True).log_prob(1.0), d.Beta(2.0, 3.0, True).log_prob(0.5)]
    found += [d.Dirichlet([2.0, 3.0], True).log_prob([0.5, 0.5])]
    found += [d.Beta(2.0, 3.0, allow_nan_stats=False).mode()]
    found += [d.Gamma(2.0, 3.0, allow_nan_stats=False).mode(), d.Uniform(0.0, 2.0, True).prob(1.0)]
    found += [d.StudentT(3.0, 0.0, 1.0, True, allow_nan_stats=False).variance()]
    return found, [x.shape for x in found]


@program
def what_is_refused(tf):
    d = tf.distributions
    normal = d.Normal(0.0, 1.0)
    said = [
        outcome(lambda: d.Categorical()),
        outcome(lambda: d.Categorical([0.1], [0.2])),
        outcome(lambda: d.Categorical(logits=[1, 2])),
        outcome(lambda: d.Bernoulli(probs=1)),
        outcome(lambda: d.Categorical([0.1]).log_prob(tf.constant(True))),
        outcome(lambda: d.Categorical([0.1], validate_args=True)),
        outcome(lambda: d.Categorical([0.1, 0.2]).mean()),
        outcome(lambda: d.Bernoulli([0.1]).cdf(0)),
        outcome(lambda: d.kl_divergence(normal, d.Uniform())),
        outcome(lambda: normal.sample([[1]])),
        outcome(lambda: d.Normal(0, 1)),
        outcome(lambda: d.RegisterKL(d.Normal, d.Uniform)(1)),
        normal.parameters["loc"],
        d.FULLY_REPARAMETERIZED,
    ]
    return [normal.loc], said


if __name__ == "__main__":
    main(PROGRAMS, record)
