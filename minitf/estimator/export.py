"""tf.estimator.export: what a model takes and gives when it is served."""

from minitf.lazily import lazily

_HOMES = {
    "minitf.estimator.export_outputs": """
        ClassificationOutput ExportOutput PredictOutput RegressionOutput""",
    "minitf.estimator.receivers": """
        ServingInputReceiver TensorServingInputReceiver build_parsing_serving_input_receiver_fn
        build_raw_serving_input_receiver_fn""",
}
__getattr__, __dir__ = lazily(globals(), _HOMES)
__all__ = [name for names in _HOMES.values() for name in names.split()]
