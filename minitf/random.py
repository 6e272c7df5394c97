"""tf.random."""

from minitf.ops.candidate import (
    all_candidate_sampler,
    log_uniform_candidate_sampler,
    uniform_candidate_sampler,
)
from minitf.ops.random import (
    categorical,
    get_seed,
    multinomial,
    set_random_seed,
    stateless_categorical,
    stateless_multinomial,
    stateless_truncated_normal,
    truncated_normal,
)
from minitf.ops.random import random_gamma as gamma
from minitf.ops.random import random_normal as normal
from minitf.ops.random import random_poisson as poisson
from minitf.ops.random import random_shuffle as shuffle
from minitf.ops.random import random_uniform as uniform
from minitf.ops.random import stateless_random_normal as stateless_normal
from minitf.ops.random import stateless_random_uniform as stateless_uniform

__all__ = [
    "all_candidate_sampler",
    "categorical",
    "gamma",
    "get_seed",
    "log_uniform_candidate_sampler",
    "multinomial",
    "normal",
    "poisson",
    "set_random_seed",
    "shuffle",
    "stateless_categorical",
    "stateless_multinomial",
    "stateless_normal",
    "stateless_truncated_normal",
    "stateless_uniform",
    "truncated_normal",
    "uniform",
    "uniform_candidate_sampler",
]
