"""Helpers of TensorFlow's tutorials, which programs import by their path. Not part of tf."""
