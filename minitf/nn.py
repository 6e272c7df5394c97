"""tf.nn: functions of neural networks, and the names of those that are left out."""

from minitf.ops.array import depth_to_space, space_to_batch, space_to_depth
from minitf.ops.candidate import (
    all_candidate_sampler,
    compute_accidental_hits,
    log_uniform_candidate_sampler,
    uniform_candidate_sampler,
)
from minitf.ops.conv import (
    atrous_conv2d,
    atrous_conv2d_transpose,
    conv1d,
    conv1d_transpose,
    conv2d,
    conv2d_backprop_filter,
    conv2d_backprop_input,
    conv2d_transpose,
    conv3d,
    conv3d_backprop_filter_v2,
    conv3d_transpose,
    conv_transpose,
    convolution,
)
from minitf.ops.cross_entropy import (
    log_poisson_loss,
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits_v2,
    sparse_softmax_cross_entropy_with_logits,
    weighted_cross_entropy_with_logits,
)
from minitf.ops.depthwise import (
    depthwise_conv2d,
    depthwise_conv2d_native,
    depthwise_conv2d_native_backprop_filter,
    depthwise_conv2d_native_backprop_input,
    separable_conv2d,
)
from minitf.ops.embedding import (
    embedding_lookup,
    embedding_lookup_sparse,
    safe_embedding_lookup_sparse,
)
from minitf.ops.left_out import left_out
from minitf.ops.math import sigmoid, tanh
from minitf.ops.nn import (
    bias_add,
    crelu,
    dropout,
    elu,
    l2_loss,
    leaky_relu,
    log_softmax,
    relu,
    relu6,
    relu_layer,
    selu,
    softmax,
    softplus,
    softsign,
    swish,
    xw_plus_b,
    zero_fraction,
)
from minitf.ops.normalization import (
    batch_norm_with_global_normalization,
    batch_normalization,
    fused_batch_norm,
    l2_normalize,
    local_response_normalization,
    lrn,
    moments,
    normalize_moments,
    sufficient_statistics,
    weighted_moments,
)
from minitf.ops.pooling import (
    avg_pool,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    avg_pool_v2,
    max_pool,
    max_pool1d,
    max_pool2d,
    max_pool3d,
    max_pool_v2,
    max_pool_with_argmax,
    pool,
)
from minitf.ops.sampled_loss import nce_loss, sampled_softmax_loss
from minitf.ops.sorting import in_top_k, top_k
from minitf.ops.spatial import with_space_to_batch
from minitf.rnn import rnn_cell
from minitf.rnn.dynamic import bidirectional_dynamic_rnn, dynamic_rnn
from minitf.rnn.raw import raw_rnn
from minitf.rnn.static import (
    static_bidirectional_rnn,
    static_rnn,
    static_state_saving_rnn,
)

__all__ = [
    "all_candidate_sampler", "atrous_conv2d", "atrous_conv2d_transpose", "avg_pool", "avg_pool1d",
    "avg_pool2d", "avg_pool3d", "avg_pool_v2", "batch_norm_with_global_normalization",
    "batch_normalization", "bias_add", "bidirectional_dynamic_rnn", "collapse_repeated",
    "compute_accidental_hits", "conv1d", "conv1d_transpose", "conv2d", "conv2d_backprop_filter",
    "conv2d_backprop_input", "conv2d_transpose", "conv3d", "conv3d_backprop_filter",
    "conv3d_backprop_filter_v2", "conv3d_transpose", "conv_transpose", "convolution", "crelu",
    "ctc_beam_search_decoder", "ctc_beam_search_decoder_v2", "ctc_greedy_decoder", "ctc_loss",
    "ctc_loss_v2", "ctc_unique_labels", "depth_to_space", "depthwise_conv2d",
    "depthwise_conv2d_backprop_filter", "depthwise_conv2d_backprop_input",
    "depthwise_conv2d_native", "depthwise_conv2d_native_backprop_filter",
    "depthwise_conv2d_native_backprop_input", "dilation2d", "dropout", "dynamic_rnn", "elu",
    "embedding_lookup", "embedding_lookup_sparse", "erosion2d", "fixed_unigram_candidate_sampler",
    "fractional_avg_pool", "fractional_max_pool", "fused_batch_norm", "in_top_k", "l2_loss",
    "l2_normalize", "leaky_relu", "learned_unigram_candidate_sampler",
    "local_response_normalization", "log_poisson_loss", "log_softmax",
    "log_uniform_candidate_sampler", "lrn", "max_pool", "max_pool1d", "max_pool2d", "max_pool3d",
    "max_pool_v2", "max_pool_with_argmax", "moments", "nce_loss", "normalize_moments", "pool",
    "quantized_avg_pool", "quantized_conv2d", "quantized_max_pool", "quantized_relu_x", "raw_rnn",
    "relu", "relu6", "relu_layer", "rnn_cell", "safe_embedding_lookup_sparse",
    "sampled_softmax_loss", "selu", "separable_conv2d", "sigmoid",
    "sigmoid_cross_entropy_with_logits", "softmax", "softmax_cross_entropy_with_logits",
    "softmax_cross_entropy_with_logits_v2", "softplus", "softsign", "space_to_batch",
    "space_to_depth", "sparse_softmax_cross_entropy_with_logits", "static_bidirectional_rnn",
    "static_rnn", "static_state_saving_rnn", "sufficient_statistics", "swish", "tanh", "top_k",
    "uniform_candidate_sampler", "weighted_cross_entropy_with_logits", "weighted_moments",
    "with_space_to_batch", "xw_plus_b", "zero_fraction",
]  # fmt: skip

conv3d_backprop_filter = conv3d_backprop_filter_v2
depthwise_conv2d_backprop_filter = depthwise_conv2d_native_backprop_filter
depthwise_conv2d_backprop_input = depthwise_conv2d_native_backprop_input

collapse_repeated = left_out("nn.collapse_repeated")
ctc_beam_search_decoder = left_out("nn.ctc_beam_search_decoder")
ctc_beam_search_decoder_v2 = left_out("nn.ctc_beam_search_decoder_v2")
ctc_greedy_decoder = left_out("nn.ctc_greedy_decoder")
ctc_loss = left_out("nn.ctc_loss")
ctc_loss_v2 = left_out("nn.ctc_loss_v2")
ctc_unique_labels = left_out("nn.ctc_unique_labels")
dilation2d = left_out("nn.dilation2d")
erosion2d = left_out("nn.erosion2d")
fixed_unigram_candidate_sampler = left_out("nn.fixed_unigram_candidate_sampler")
fractional_avg_pool = left_out("nn.fractional_avg_pool")
fractional_max_pool = left_out("nn.fractional_max_pool")
learned_unigram_candidate_sampler = left_out("nn.learned_unigram_candidate_sampler")
quantized_avg_pool = left_out("nn.quantized_avg_pool")
quantized_conv2d = left_out("nn.quantized_conv2d")
quantized_max_pool = left_out("nn.quantized_max_pool")
quantized_relu_x = left_out("nn.quantized_relu_x")
