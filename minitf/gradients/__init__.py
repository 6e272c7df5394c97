"""tf.gradients: the driver, and a table of gradient functions per domain (see tables.py)."""
