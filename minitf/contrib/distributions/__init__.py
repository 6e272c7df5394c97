"""tf.contrib.distributions: tf.distributions, and the normal distribution of vectors."""

from minitf.contrib.distributions.vector_normal import MultivariateNormalDiag
from minitf.distributions import (
    FULLY_REPARAMETERIZED,
    NOT_REPARAMETERIZED,
    Bernoulli,
    Beta,
    Categorical,
    Dirichlet,
    Distribution,
    Exponential,
    Gamma,
    Laplace,
    Multinomial,
    Normal,
    RegisterKL,
    ReparameterizationType,
    StudentT,
    Uniform,
    kl_divergence,
)

__all__ = [
    "FULLY_REPARAMETERIZED", "NOT_REPARAMETERIZED", "Bernoulli", "Beta", "Categorical", "Dirichlet",
    "Distribution", "Exponential", "Gamma", "Laplace", "Multinomial", "MultivariateNormalDiag",
    "Normal", "RegisterKL", "ReparameterizationType", "StudentT", "Uniform", "kl_divergence",
]  # fmt: skip
