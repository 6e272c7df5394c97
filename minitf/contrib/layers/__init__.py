"""tf.contrib.layers: layers as functions, under the defaults of arg_scope; what goes with them."""

from minitf.contrib.layers.batch_norm import batch_norm
from minitf.contrib.layers.embedding import embed_sequence, embedding_lookup_unique
from minitf.contrib.layers.initializers import (
    variance_scaling_initializer,
    xavier_initializer,
    xavier_initializer_conv2d,
)
from minitf.contrib.layers.normalization import bias_add, layer_norm, unit_norm
from minitf.contrib.layers.optimizers import (
    OPTIMIZER_CLS_NAMES,
    OPTIMIZER_SUMMARIES,
    optimize_loss,
)
from minitf.contrib.layers.plain import (
    avg_pool2d,
    dropout,
    flatten,
    max_pool2d,
    maxout,
    one_hot_encoding,
    repeat,
    softmax,
    stack,
)
from minitf.contrib.layers.regularizers import (
    apply_regularization,
    l1_l2_regularizer,
    l1_regularizer,
    l2_regularizer,
    sum_regularizer,
)
from minitf.contrib.layers.summaries import (
    summarize_activation,
    summarize_activations,
    summarize_collection,
    summarize_tensor,
    summarize_tensors,
)
from minitf.contrib.layers.weighted import (
    conv1d,
    conv2d,
    conv2d_transpose,
    conv3d,
    convolution,
    convolution1d,
    convolution2d,
    convolution2d_transpose,
    convolution3d,
    elu,
    fully_connected,
    linear,
    relu,
    relu6,
)

__all__ = [
    "OPTIMIZER_CLS_NAMES", "OPTIMIZER_SUMMARIES", "apply_regularization", "avg_pool2d",
    "batch_norm", "bias_add", "conv1d", "conv2d", "conv2d_transpose", "conv3d", "convolution",
    "convolution1d", "convolution2d", "convolution2d_transpose", "convolution3d", "dropout", "elu",
    "embed_sequence", "embedding_lookup_unique", "flatten", "fully_connected", "l1_l2_regularizer",
    "l1_regularizer", "l2_regularizer", "layer_norm", "linear", "max_pool2d", "maxout",
    "one_hot_encoding", "optimize_loss", "relu", "relu6", "repeat", "softmax", "stack",
    "sum_regularizer", "summarize_activation", "summarize_activations", "summarize_collection",
    "summarize_tensor", "summarize_tensors", "unit_norm", "variance_scaling_initializer",
    "xavier_initializer", "xavier_initializer_conv2d",
]  # fmt: skip
