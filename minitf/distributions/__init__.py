"""tf.distributions: distributions to sample from, and to ask for probabilities."""

from minitf.distributions.base import (
    FULLY_REPARAMETERIZED,
    NOT_REPARAMETERIZED,
    Distribution,
    ReparameterizationType,
)
from minitf.distributions.dirichlet import Dirichlet
from minitf.distributions.discrete import Bernoulli, Categorical
from minitf.distributions.divergence import RegisterKL, kl_divergence
from minitf.distributions.gamma import Beta, Exponential, Gamma
from minitf.distributions.laplace import Laplace
from minitf.distributions.multinomial import Multinomial
from minitf.distributions.normal import Normal
from minitf.distributions.student import StudentT
from minitf.distributions.uniform import Uniform

__all__ = [
    "FULLY_REPARAMETERIZED", "NOT_REPARAMETERIZED", "Bernoulli", "Beta", "Categorical", "Dirichlet",
    "Distribution", "Exponential", "Gamma", "Laplace", "Multinomial", "Normal", "RegisterKL",
    "ReparameterizationType", "StudentT", "Uniform", "kl_divergence",
]  # fmt: skip
