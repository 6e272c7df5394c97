"""tf.data.Options: what a program asks of its input pipeline beside its elements."""

from __future__ import annotations

from typing import Any

_DEFAULT_REWRITES = ("map_and_batch_fusion", "noop_elimination", "shuffle_and_repeat_fusion")


class _Settings:
    """Settings by name, None where nothing was said. Other names, and other types, are refused."""

    _names: dict[str, type] = {}

    def __init__(self) -> None:
        for name, kind in self._names.items():
            made = kind() if issubclass(kind, _Settings) else None
            object.__setattr__(self, name, made)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._names:
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        kind = self._names[name]
        if not isinstance(value, kind):
            raise TypeError(
                f'Property "{name}" must be of type {kind!r}, got: {value!r} '
                f"(type: {type(value)!r})"
            )
        object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    def merge(self, other: Any) -> Any:
        """Both together. Raises ValueError where they say different things."""
        made = type(self)()
        for name in self._names:
            mine, theirs = getattr(self, name), getattr(other, name)
            if isinstance(mine, _Settings):
                object.__setattr__(made, name, mine.merge(theirs))
                continue
            if None not in (mine, theirs) and mine != theirs:
                raise ValueError(f"Cannot merge incompatible values of option: {name}")
            object.__setattr__(made, name, theirs if mine is None else mine)
        return made


class MapVectorizationOptions(_Settings):
    _names = dict(enabled=bool, use_choose_fastest=bool)


class OptimizationOptions(_Settings):
    """Which rewrites are asked for; of those only what changes the order of elements is done."""

    _rewrites = (
        "filter_fusion", "filter_with_random_uniform_fusion", "hoist_random_uniform",
        "map_and_batch_fusion", "map_and_filter_fusion", "map_parallelization", "map_fusion",
        "noop_elimination", "parallel_batch", "shuffle_and_repeat_fusion",
    )  # fmt: skip
    _names = dict(
        dict.fromkeys(_rewrites, bool),
        apply_default_optimizations=bool,
        autotune=bool,
        autotune_algorithm=int,
        autotune_buffers=bool,
        autotune_cpu_budget=int,
        map_vectorization=MapVectorizationOptions,
    )

    def asked(self) -> list[str]:
        found = {name for name in self._rewrites if getattr(self, name)}
        if self.apply_default_optimizations is not False:
            found |= {name for name in _DEFAULT_REWRITES if getattr(self, name) is not False}
        if self.map_vectorization.enabled:
            found.add("map_vectorization")
        if self.autotune is not False and self.autotune_buffers:
            found.add("inject_prefetch")
        return sorted(found)


class ThreadingOptions(_Settings):
    _names = dict(max_intra_op_parallelism=int, private_threadpool_size=int)


class DistributeOptions(_Settings):
    _names = dict(auto_shard=bool, num_devices=int)


class StatsOptions(_Settings):
    _names = dict(latency_all_edges=bool, prefix=str, counter_prefix=str)


class Options(_Settings):
    """Settings for `Dataset.with_options` (TF: tf.data.Options)."""

    _names = dict(
        experimental_deterministic=bool,
        experimental_distribute=DistributeOptions,
        experimental_optimization=OptimizationOptions,
        experimental_slack=bool,
        experimental_stats=StatsOptions,
        experimental_threading=ThreadingOptions,
        experimental_stateful_whitelist=list,
    )

    def _static_optimizations(self) -> list[str]:
        found: list[str] = self.experimental_optimization.asked()
        if self.experimental_deterministic is False:
            found.append("make_sloppy")
        if self.experimental_stats.latency_all_edges:
            found.append("latency_all_edges")
        if self.experimental_slack:
            found.append("slack")
        return found

    def _static_optimization_configs(self) -> list[str]:
        fastest = self.experimental_optimization.map_vectorization.use_choose_fastest
        found = [f"map_vectorization:use_choose_fastest:{str(bool(fastest)).lower()}"]
        if self.experimental_slack:
            found.append(f"slack:slack_period:{self.experimental_distribute.num_devices or 1}")
        return found

    def _threading(self) -> list[tuple[str, str, int]]:
        """The ops that bound threads, with their argument."""
        asked = self.experimental_threading
        named = (
            ("MaxIntraOpParallelismDataset", "max_intra_op_parallelism",
             asked.max_intra_op_parallelism),
            ("PrivateThreadPoolDataset", "num_threads", asked.private_threadpool_size),
        )  # fmt: skip
        return [found for found in named if found[2] is not None]

    def _tuning(self) -> dict[str, Any] | None:
        """The attributes of ModelDataset, None for none."""
        asked = self.experimental_optimization
        if asked.autotune is False:
            return None
        return {
            "algorithm": asked.autotune_algorithm or 0,
            "cpu_budget": asked.autotune_cpu_budget or 0,
        }
