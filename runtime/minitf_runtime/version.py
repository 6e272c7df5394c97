"""The one place where the version of both packages stands."""

VERSION = "0.1.0"
GRAPH_DEF_VERSION = 134  # of TensorFlow 1.15
API_VERSION = "1.15.5"  # of the TensorFlow whose behaviour this is; programs ask tf.__version__
