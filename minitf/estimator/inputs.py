"""tf.estimator.inputs: input functions of arrays and data frames."""

from minitf.lazily import lazily

_HOMES = {
    "minitf.estimator.numpy_io": "numpy_input_fn",
    "minitf.estimator.pandas_io": "pandas_input_fn",
}
__getattr__, __dir__ = lazily(globals(), _HOMES)
__all__ = [name for names in _HOMES.values() for name in names.split()]
