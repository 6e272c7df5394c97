"""TensorFlow 1.15 graph mode: `import minitf as tf`. Public names only; no logic."""

from __future__ import annotations

# fmt: off
from minitf import (
    app, bitwise, compat, contrib, data, debugging, errors, estimator, flags, gfile, graph_util,
    image, initializers, io, layers, linalg, losses, math, metrics, nest, nn, python_io, queue,
    random, saved_model, sets, sparse, spectral, strings, summary, test, tf_logging as logging,
    train, version,
)
from minitf.behavior import (
    control_flow_v2_enabled, disable_control_flow_v2, disable_eager_execution,
    disable_tensor_equality, disable_v2_behavior, disable_v2_tensorshape,
    enable_control_flow_v2, enable_eager_execution, enable_tensor_equality, enable_v2_behavior,
    enable_v2_tensorshape, executing_eagerly, init_scope,
)
from minitf.convert import constant, convert_to_tensor, register_tensor_conversion_function
from minitf.default import (
    GraphKeys, add_to_collection, add_to_collections, colocate_with, container,
    control_dependencies, device, get_collection, get_collection_ref, get_default_graph,
    get_default_session, name_scope, op_scope, reset_default_graph,
)
from minitf.device_spec import DeviceSpec
from minitf.errors import OpError
from minitf.gradients.aggregation import AggregationMethod
from minitf.gradients.custom import custom_gradient, grad_pass_through
from minitf.gradients.driver import UnconnectedGradients, gradients
from minitf.gradients.hessians import hessians
from minitf.gradients.registry import NoGradient, NotDifferentiable, RegisterGradient, no_gradient
from minitf.graph import Graph
from minitf.importer import import_graph_def
from minitf.indexed_slices import IndexedSlices, convert_to_tensor_or_indexed_slices
from minitf.initializers import (
    constant as constant_initializer, glorot_normal as glorot_normal_initializer, glorot_uniform
    as glorot_uniform_initializer, ones as ones_initializer, orthogonal as orthogonal_initializer,
    random_normal as random_normal_initializer, random_uniform as random_uniform_initializer,
    truncated_normal as truncated_normal_initializer, uniform_unit_scaling as
    uniform_unit_scaling_initializer, variance_scaling as variance_scaling_initializer, zeros as
    zeros_initializer,
)
from minitf.lazily import lazily as _lazily
from minitf.operation import Operation, Tensor
from minitf.ops import raw as raw_ops
from minitf.ops.accumulator import (
    ConditionalAccumulator, ConditionalAccumulatorBase, SparseConditionalAccumulator,
)
from minitf.ops.blocks import (
    batch_to_space, batch_to_space_nd, depth_to_space, extract_image_patches,
    required_space_to_batch_paddings, space_to_batch, space_to_batch_nd, space_to_depth,
)
from minitf.ops.case import case, switch_case
from minitf.ops.check import (
    assert_equal, assert_greater, assert_greater_equal, assert_integer, assert_less,
    assert_less_equal, assert_near, assert_negative, assert_non_negative, assert_non_positive,
    assert_none_equal, assert_positive, assert_proper_iterable, assert_rank, assert_rank_at_least,
    assert_rank_in, assert_same_float_dtype, assert_scalar, assert_type, ensure_shape,
    is_non_decreasing, is_numeric_tensor, is_strictly_increasing,
)
from minitf.ops.clip import (
    clip_by_average_norm, clip_by_global_norm, clip_by_norm, clip_by_value, global_norm,
)
from minitf.ops.comparison import (
    equal, greater, greater_equal, is_finite, is_inf, is_nan, less, less_equal, logical_and,
    logical_not, logical_or, logical_xor, not_equal,
)
from minitf.ops.confusion import confusion_matrix
from minitf.ops.constant_value import get_static_value, is_tensor
from minitf.ops.control_flow import cond, while_loop
from minitf.ops.debug import Assert, Print, print, timestamp
from minitf.ops.einsum import einsum
from minitf.ops.elementwise import (
    abs, acos, acosh, add, angle, asin, asinh, atan, atan2, atanh, cast, ceil, complex, conj, cos,
    cosh, div, div_no_nan, divide, exp, expm1, floor, floor_div, floordiv, floormod, imag, log,
    log1p, log_sigmoid, maximum, minimum, mod, multiply, negative, pow, real, realdiv, reciprocal,
    rint, round, rsqrt, saturate_cast, scalar_mul, sigmoid, sign, sin, sinh, sqrt, square,
    squared_difference, subtract, tan, tanh, to_complex128, to_complex64, to_double, to_float,
    to_int32, to_int64, truediv, truncatediv, truncatemod,
)
from minitf.ops.files import matching_files, read_file, write_file
from minitf.ops.filling import (
    fill, meshgrid, one_hot, ones, ones_like, placeholder, placeholder_with_default,
    sequence_mask, sparse_placeholder, zeros, zeros_like,
)
from minitf.ops.functional import foldl, foldr, map_fn, scan
from minitf.ops.gather import (
    batch_gather, dynamic_partition, dynamic_stitch, gather, gather_nd, scatter_nd,
    tensor_scatter_add, tensor_scatter_add as tensor_scatter_nd_add, tensor_scatter_sub,
    tensor_scatter_sub as tensor_scatter_nd_sub, tensor_scatter_update,
    tensor_scatter_update as tensor_scatter_nd_update,
)
from minitf.ops.group import group, no_op, tuple
from minitf.ops.joining import concat, pad, parallel_stack, split, stack, tile, unstack
from minitf.ops.linalg import (
    cholesky, cholesky_solve, diag, diag_part, eye, matrix_band_part, matrix_determinant,
    matrix_diag, matrix_diag_part, matrix_inverse, matrix_set_diag, matrix_solve, matrix_solve_ls,
    matrix_triangular_solve, qr, self_adjoint_eig, self_adjoint_eigvals, svd,
)
from minitf.ops.math import (
    accumulate_n, add_check_numerics_ops, add_n, bincount, check_numerics, histogram_fixed_width,
    histogram_fixed_width_bins, lin_space, linspace, verify_tensor_all_finite,
)
from minitf.ops.matmul import cross, matmul, sparse_matmul, tensordot, trace
from minitf.ops.norm import norm
from minitf.ops.queue import (
    FIFOQueue, PaddingFIFOQueue, PriorityQueue, QueueBase, RandomShuffleQueue,
)
from minitf.ops.random import (
    get_seed, multinomial, random_crop, random_gamma, random_normal, random_poisson,
    random_shuffle, random_uniform, set_random_seed, truncated_normal,
)
from minitf.ops.reduction import (
    arg_max, arg_min, argmax, argmin, count_nonzero, cumprod, cumsum, range, reduce_all,
    reduce_any, reduce_logsumexp, reduce_max, reduce_mean, reduce_min, reduce_prod, reduce_sum,
)
from minitf.ops.repeating import repeat
from minitf.ops.script import numpy_function, py_func
from minitf.ops.segment import (
    segment_max, segment_mean, segment_min, segment_prod, segment_sum, sparse_segment_mean,
    sparse_segment_sqrt_n, sparse_segment_sum, unsorted_segment_max, unsorted_segment_mean,
    unsorted_segment_min, unsorted_segment_prod, unsorted_segment_sqrt_n, unsorted_segment_sum,
)
from minitf.ops.shapes import (
    bitcast, broadcast_dynamic_shape, broadcast_static_shape, broadcast_to, expand_dims,
    guarantee_const, identity, identity_n, matrix_transpose, rank, reshape, shape, shape_n, size,
    squeeze, stop_gradient, transpose,
)
from minitf.ops.slicing import (
    boolean_mask, newaxis, reverse, reverse_sequence, roll, slice, strided_slice,
)
from minitf.ops.sorting import (
    argsort, invert_permutation, searchsorted, setdiff1d, sort, unique, unique_with_counts,
    unravel_index, where, where_v2,
)
from minitf.ops.sparse import (
    convert_to_tensor_or_sparse_tensor, sparse_add, sparse_concat, sparse_fill_empty_rows,
    sparse_reduce_max, sparse_reduce_sum, sparse_reorder, sparse_reshape, sparse_retain,
    sparse_slice, sparse_softmax, sparse_tensor_dense_matmul, sparse_tensor_to_dense,
    sparse_to_dense, sparse_transpose,
)
from minitf.ops.sparse_forms import (
    edit_distance, sparse_mask, sparse_merge, sparse_reset_shape, sparse_split,
    sparse_to_indicator,
)
from minitf.ops.special import (
    betainc, digamma, erf, erfc, igamma, igammac, lbeta, lgamma, polygamma, zeta,
)
from minitf.ops.spectral import fft, fft2d, fft3d, ifft, ifft2d, ifft3d
from minitf.ops.state import (
    assign, assign_add, assign_sub, batch_scatter_update, count_up_to, is_variable_initialized,
    scatter_add, scatter_div, scatter_max, scatter_min, scatter_mul, scatter_nd_add,
    scatter_nd_sub, scatter_nd_update, scatter_sub, scatter_update,
)
from minitf.ops.strings import (
    as_string, decode_base64, decode_raw, encode_base64, reduce_join, regex_replace, string_join,
    string_split, string_strip, string_to_hash_bucket, string_to_hash_bucket_fast,
    string_to_hash_bucket_strong, string_to_number, substr,
)
from minitf.ops.tables import initialize_all_tables, tables_initializer
from minitf.ops.tensor_array import TensorArray
from minitf.options import (
    ConfigProto, GPUOptions, GraphOptions, OptimizerOptions, RunMetadata, RunOptions,
)
from minitf.proto.event import (
    Event, HistogramProto, LogMessage, SessionLog, Summary, SummaryMetadata,
)
from minitf.proto.graph import AttrValue, GraphDef, NameAttrList, NodeDef
from minitf.proto.meta_graph import MetaGraphDef, TensorInfo
from minitf.session import InteractiveSession, Session
from minitf.sparse_tensor import SparseTensor, SparseTensorSpec, SparseTensorValue
from minitf.template import make_template
from minitf.tensor_shape import Dimension, TensorShape, dimension_at_index, dimension_value
from minitf.tensor_spec import TensorSpec
from minitf.tensor_util import make_ndarray, make_tensor_proto
from minitf.tf_logging import get_logger
from minitf.variable_scope import (
    AUTO_REUSE, VariableScope, create_partitioned_variables, get_local_variable, get_variable,
    get_variable_scope, no_regularizer, variable_op_scope, variable_scope,
)
from minitf.variables import (
    Variable, VariableAggregation, VariableSynchronization, all_variables,
    assert_variables_initialized, disable_resource_variables, enable_resource_variables,
    fixed_size_partitioner, global_variables, global_variables_initializer,
    initialize_all_variables, initialize_local_variables, initialize_variables, local_variables,
    local_variables_initializer, min_max_variable_partitioner, model_variables,
    moving_average_variables, report_uninitialized_variables, resource_variables_enabled,
    trainable_variables, variable_axis_size_partitioner, variable_creator_scope,
    variables_initializer,
)
from minitf.version import (
    COMPILER_VERSION, COMPILER_VERSION as __compiler_version__, CXX11_ABI_FLAG,
    CXX11_ABI_FLAG as __cxx11_abi_flag__, GIT_VERSION, GIT_VERSION as __git_version__,
    GRAPH_DEF_VERSION, GRAPH_DEF_VERSION_MIN_CONSUMER, GRAPH_DEF_VERSION_MIN_PRODUCER,
    MONOLITHIC_BUILD, MONOLITHIC_BUILD as __monolithic_build__, VERSION, VERSION as __version__,
)
from minitf_runtime.types import (
    DType, as_dtype, bool_ as bool, complex128, complex64, float16, float16 as half, float32,
    float64, float64 as double, int16, int32, int64, int8, resource, string, uint16, uint32,
    uint64, uint8, variant,
)

__getattr__, __dir__ = _lazily(globals(), {  # what few programs need, as all that reads files
    "minitf.distributions": "",
    "minitf.signal": "",
    "minitf.ops.decoding": "decode_compressed decode_csv parse_tensor serialize_tensor",
    "minitf.ops.features": "FixedLenFeature FixedLenSequenceFeature SparseFeature VarLenFeature",
    "minitf.ops.parsing": "parse_example parse_single_example parse_single_sequence_example",
    "minitf.ops.readers": """
        FixedLengthRecordReader IdentityReader LMDBReader ReaderBase TFRecordReader TextLineReader
        WholeFileReader""",
})
