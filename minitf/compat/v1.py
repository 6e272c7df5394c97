"""`import minitf.compat.v1 as tf` gives minitf itself."""

import sys

sys.modules[__name__] = sys.modules["minitf"]
