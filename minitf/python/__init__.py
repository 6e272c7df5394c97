"""Modules that TF1 programs import by the path they have in TensorFlow: names only, no code."""
