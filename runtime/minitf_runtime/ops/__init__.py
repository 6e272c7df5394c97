"""All ops: importing this package fills the registry."""

from minitf_runtime.ops import core, diagonal, linalg, random, resource, scatter, state, training

__all__ = ["core", "diagonal", "linalg", "random", "resource", "scatter", "state", "training"]
