"""tf.estimator.experimental: hooks that end a training early, or evaluate within it."""

from minitf.lazily import lazily

_HOMES = {
    "minitf.estimator.early_stopping": """
        make_early_stopping_hook stop_if_higher_hook stop_if_lower_hook stop_if_no_decrease_hook
        stop_if_no_increase_hook""",
    "minitf.estimator.hooks": "InMemoryEvaluatorHook make_stop_at_checkpoint_step_hook",
}
__getattr__, __dir__ = lazily(globals(), _HOMES)
__all__ = [name for names in _HOMES.values() for name in names.split()]
