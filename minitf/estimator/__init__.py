"""tf.estimator: models as functions, trained and evaluated alone or on a cluster (TF_CONFIG)."""

from __future__ import annotations

from minitf.estimator import experimental, export, inputs
from minitf.lazily import lazily
from minitf.ops.left_out import left_out

_HOMES = {
    "minitf.estimator.estimator": "Estimator",
    "minitf.estimator.exporter": "BestExporter Exporter FinalExporter LatestExporter",
    "minitf.estimator.run_config": "RunConfig",
    "minitf.estimator.spec": "EstimatorSpec ModeKeys",
    "minitf.estimator.train_and_evaluate": "train_and_evaluate",
    "minitf.estimator.training_specs": "EvalSpec TrainSpec",
    "minitf.train": """
        CheckpointSaverHook CheckpointSaverListener FeedFnHook FinalOpsHook GlobalStepWaiterHook
        LoggingTensorHook NanLossDuringTrainingError NanTensorHook ProfilerHook SecondOrStepTimer
        SessionRunArgs SessionRunContext SessionRunHook SessionRunValues StepCounterHook
        StopAtStepHook SummarySaverHook VocabInfo""",
    "minitf.estimator.warm_start": "WarmStartSettings",
}
_WITH_FEATURE_COLUMNS = """
    BaselineClassifier BaselineEstimator BaselineRegressor BoostedTreesClassifier
    BoostedTreesEstimator BoostedTreesRegressor DNNClassifier DNNEstimator
    DNNLinearCombinedClassifier DNNLinearCombinedEstimator DNNLinearCombinedRegressor DNNRegressor
    LinearClassifier LinearEstimator LinearRegressor""".split()
globals().update({name: left_out(f"estimator.{name}") for name in _WITH_FEATURE_COLUMNS})
__getattr__, __dir__ = lazily(globals(), _HOMES)
__all__ = ["experimental", "export", "inputs", *_WITH_FEATURE_COLUMNS]
__all__ += [name for names in _HOMES.values() for name in names.split()]
