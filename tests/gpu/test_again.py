"""Ops without cases of their own, on GPUs: what tests them elsewhere, once more with GPUs there.

An op goes to GPU:0 by itself if it has a kernel for it.
"""

from ops.test_tensor_array import *  # noqa: F403
from plan.test_control_flow import *  # noqa: F403
