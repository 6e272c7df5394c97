"""The ops that TensorFlow 1.15.5 runs on a GPU: for which types, with what in host memory.

TensorFlow's own table of registered kernels, of the ops that are here. What else keeps an op from
a GPU is a kernel that is for the CPU alone (ops/registry.py). One line is not TensorFlow's: Prod of
int32 is in host memory, as Sum is, since a gradient's sizes would go down and up again for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from minitf_runtime.types import DType, as_dtype, resource

# NumPy's codes of the types, and R: resource | arguments in host memory | ops
_TABLE = """
| | Angle AvgPool BesselI0e BesselI1e Betainc Bitcast BitwiseAnd BitwiseOr BitwiseXor Bucketize
    Ceil CheckNumerics Complex ComplexAbs Conj ControlTrigger Conv2D Conv3D DepthwiseConv2dNative
    DestroyResourceOp Digamma DivNoNan Elu EluGrad Erf Erfc Exp FFT FFT2D FFT3D Floor
    FusedBatchNorm FusedBatchNormGrad FusedBatchNormGradV2 FusedBatchNormGradV3 FusedBatchNormV2
    FusedBatchNormV3 IFFT IFFT2D IFFT3D IdentityN Igamma IgammaGradA Igammac Imag InTopKV2 Invert
    IsFinite IsInf IsNan L2Loss LeakyRelu LeakyReluGrad LeftShift Lgamma LogicalAnd LogicalNot
    LogicalOr MaxPool3D MaxPool3DGrad MulNoNan NextAfter NoOp Placeholder Polygamma QueueCloseV2
    QueueDequeueV2 QueueEnqueueV2 QueueIsClosedV2 RandomGammaGrad ReadVariableOp Real RightShift
    Selu SeluGrad Softmax SoftmaxCrossEntropyWithLogits Softplus SoftplusGrad Softsign SoftsignGrad
    StackCloseV2 TensorArrayCloseV3 TensorArrayGradV3 Xdivy Xlogy Zeta
| concat_dim offset shape | ConcatOffset
| condition data | Assert
| delta limit output start | Range
| fft_length | IRFFT IRFFT2D IRFFT3D RFFT RFFT2D RFFT3D
| filter_sizes | Conv2DBackpropFilter Conv3DBackpropFilterV2 DepthwiseConv2dNativeBackpropFilter
| input output | LoopCond
| input_sizes | Conv2DBackpropInput Conv3DBackpropInputV2 DepthwiseConv2dNativeBackpropInput
| is_initialized | VarIsInitializedOp
| max_size | StackV2
| maxval minval seed shape | StatelessRandomUniformInt
| num output start stop | LinSpace
| orig_input_shape | AvgPoolGrad
| output | VariableShape
| r0 r1 s0 s1 | BroadcastGradientArgs
| r0 s0 s1 | BroadcastArgs
| reduction_indices | All Any
| seed shape | StatelessRandomNormal StatelessRandomUniform StatelessTruncatedNormal
| size | QueueSizeV2 TensorArraySizeV3
| x y | InvertPermutation
SrcT=efdFD?bBhHiIlL DstT=efdFD?bBhHiIlL | | Cast
T=?i | elem output | StackPushV2
T=?i | input output | Rank
T=?iO | data output_false output_true pred | RefSwitch
T=?iOR | data output_false output_true pred | Switch
T=?iOR | input output | EnsureShape Identity RefIdentity StopGradient
T=BhHl | | TruncateDiv
T=bBhHil | | PopulationCount
T=ef | | AdjustContrastv2 AdjustHue AdjustSaturation AvgPool3D DepthToSpace LogSoftmax
    MaxPool3DGradGrad SparseSoftmaxCrossEntropyWithLogits
T=ef | orig_input_shape | AvgPool3DGrad
T=efB | | SpaceToDepth
T=efd | | ApplyAdaMax ApplyAdadelta ApplyAdagrad ApplyAdagradV2 ApplyAdam ApplyAddSign
    ApplyCenteredRMSProp ApplyGradientDescent ApplyMomentum ApplyPowerSign ApplyRMSProp BiasAdd
    BiasAddGrad BiasAddV1 Cos CropAndResizeGradBoxes Expm1 ExtractImagePatches InvGrad Log Log1p
    MaxPool MaxPoolGrad MaxPoolGradGrad ParallelConcat ReciprocalGrad Relu Relu6 Relu6Grad ReluGrad
    ResourceApplyAdaMax ResourceApplyAdadelta ResourceApplyAdagrad ResourceApplyAdagradV2
    ResizeBilinearGrad ResourceApplyAdam ResourceApplyAdamWithAmsgrad ResourceApplyAddSign
    ResourceApplyCenteredRMSProp ResourceApplyGradientDescent ResourceApplyKerasMomentum
    ResourceApplyMomentum ResourceApplyPowerSign ResourceApplyRMSProp Rsqrt RsqrtGrad ScatterMax
    ScatterMin SegmentSum Sigmoid SigmoidGrad Sin Sqrt SqrtGrad Tan Tanh TanhGrad
T=efd | block_shape crops | BatchToSpaceND
T=efd | block_shape paddings | SpaceToBatchND
T=efd | crop_size | CropAndResize
T=efd | image_size | CropAndResizeGradImage
T=efd | ksize strides | MaxPoolGradGradV2 MaxPoolGradV2 MaxPoolV2
T=efd | num_samples | Multinomial
T=efd | num_samples seed | StatelessMultinomial
T=efd | paddings | MirrorPad MirrorPadGrad
T=efd | reduction_indices | Min
T=efd | size | ResizeBilinear ResizeNearestNeighbor ResizeNearestNeighborGrad
T=efd Targmax=l | | MaxPoolGradWithArgmax
T=efd Tidx=i | dimension | ArgMax ArgMin
T=efd? | | ReverseSequence
T=efd?B | | Unpack
T=efd?hl | | Pack
T=efd?il | depth | OneHot
T=efdBhHl | | FloorDiv
T=efdFD | | BatchMatMul BatchMatMulV2 DynamicPartition MatMul RealDiv
T=efdFD | index | TensorArrayWriteV3
T=efdFD | lengths | TensorArraySplitV3
T=efdFD | reduction_indices | EuclideanNorm Mean
T=efdFD | size_splits split_dim | SplitV
T=efdFD | split_dim | Split
T=efdFD? | | MatrixDiag MatrixDiagPart MatrixSetDiag
T=efdFD? | num_lower num_upper | MatrixBandPart
T=efdFD? | shape | BroadcastTo
T=efdFD?Bl | axis | ConcatV2
T=efdFD?Bl | concat_dim | Concat
T=efdFD?bB | axis | ReverseV2
T=efdFD?bB | constant_values paddings | PadV2
T=efdFD?bB | dims | Reverse
T=efdFD?bB | paddings | Pad
T=efdFD?bBhHil | | Snapshot
T=efdFD?bBhHil | perm | ConjugateTranspose Transpose
T=efdFD?bBhHl | | Enter Exit NextIteration RefEnter RefExit RefNextIteration Squeeze
T=efdFD?bBhHl | dim | ExpandDims
T=efdFD?bBhHl | dims | Fill
T=efdFD?bBhHl | output | Shape ShapeN Size
T=efdFD?bBhHl | shape | Reshape
T=efdFD?bBhHl | value_index | RefMerge
T=efdFD?bBhHlL | value_index | Merge
T=efdFD?bBhl | | Equal NotEqual
T=efdFD?bil | begin end strides | ResourceStridedSliceAssign
T=efdFD?bl | begin end shape strides | StridedSliceGrad
T=efdFD?bl | begin end strides | StridedSlice StridedSliceAssign
T=efdFD?bl | begin size | Slice
T=efdFD?hil | multiples | Tile
T=efdFD?il | | Select SelectV2
T=efdFD?l | | Assign OnesLike ZerosLike
T=efdFDBhHl | | Div
T=efdFDBl | | Add AddV2
T=efdFDbBhHl | | EnsureShape Mul PreventGradient StackPushV2 StopGradient
T=efdFDbBhHl | output | Rank
T=efdFDbBhHl | pred | RefSwitch
T=efdFDbBhHlL | pred | Switch
T=efdFDbBhHlO | | Identity RefIdentity
T=efdFDi | | ResourceScatterNdAdd ResourceScatterNdSub ResourceScatterNdUpdate ScatterNdAdd
    ScatterNdNonAliasingAdd ScatterNdSub ScatterNdUpdate
T=efdFDi | num_segments | UnsortedSegmentSum
T=efdFD | reduction_indices | Prod
T=efdFDi | shape | ScatterNd
T=efdFDil | axis shift | Roll
T=efdFDil | data indices merged | ParallelDynamicStitch
T=efdFDil | indices | DynamicStitch
T=efdFDl | | AddN Neg Sign Sub
T=efdFDl | indices | TensorArrayScatterV3
T=efdFDl | reduction_indices | Sum
T=efdbBhHil | | Cross LowerBound TopK UpperBound
T=efdbBhHil | k | TopKV2
T=efdbBhHl | | ClipByValue
T=efdbBhl | | Greater GreaterEqual Less LessEqual
T=efdi | num_segments | UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd
T=efdil | | Round
T=efdil | axis | Cumprod Cumsum
T=efdl | | Abs AssignAdd AssignSub DeepCopy DestroyTemporaryVariable Inv Maximum Minimum Pow
    Reciprocal Square SquaredDifference
T=efdl | reduction_indices | Max
T=f | | LRN LRNGrad
T=f | a_shape | SparseTensorDenseMatMul
T=fd | | Acos Acosh ApproximateEqual Asin Asinh Atan Atan2 Atanh Cosh HSVToRGB RGBToHSV Rint
    ScatterAdd ScatterDiv ScatterMul ScatterSub ScatterUpdate Sinh Svd TensorScatterAdd
    TensorScatterSub TensorScatterUpdate
T=fd dtype=i | nbins value_range | HistogramFixedWidth
T=fdD | input q r | Qr
T=fdFD | | Cholesky LogMatrixDeterminant MatrixDeterminant MatrixInverse MatrixSolve
    MatrixTriangularSolve SelfAdjointEigV2
T=fdFD?bBl | | Where
T=fdFDil | | Diag DiagPart
T=fi | size | Bincount
T=i | axis output tensor | ReverseV2
T=i | end_token | GatherTree
T=i | axis output values | ConcatV2
T=i | begin dy end output shape strides | StridedSliceGrad
T=i | begin end input output strides | StridedSlice
T=i | begin input output size | Slice
T=i | clip_value_max clip_value_min output t | ClipByValue
T=i | concat_dim output values | Concat
T=i | constant_values input output paddings | PadV2
T=i | dim input output | ExpandDims
T=i | dims output tensor | Reverse
T=i | index input | Where
T=i | input output | Shape ShapeN Size Squeeze
T=i | input output paddings | Pad
T=i | input output reduction_indices | Max Min Prod Sum
T=i | input output shape | BroadcastTo
T=i | inputs sum | AddN
T=i | maxval minval shape | RandomUniformInt
T=i | output shape tensor | Reshape
T=i | output size_splits split_dim value | SplitV
T=i | output values | Pack
T=i | shape | RandomStandardNormal RandomUniform TruncatedNormal
T=i | x y | Abs DeepCopy Neg OnesLike Sign Square ZerosLike
T=i | x y z | Add AddV2 Div Equal FloorDiv FloorMod Greater GreaterEqual Less LessEqual Maximum
    Minimum Mod Mul NotEqual SquaredDifference Sub TruncateMod
T=i index_type=i | dims output value | Fill
T=iO | data output | RefEnter
T=iOR | data output | Enter Exit NextIteration RefExit RefNextIteration
T=iOR | inputs output value_index | Merge RefMerge
T=il | idx x y | Unique
T=il | output value | Unpack
Targmax=l T=efd | | MaxPoolWithArgmax
Tparams=efdFD?il | | Gather
Tparams=efdFD?il | axis | GatherV2
Tparams=efdFDil | | GatherNd
dtype=?iOR | input output | PlaceholderWithDefault
dtype=efd | | ResourceGather ResourceGatherNd
dtype=efdFD?bBhHIlL | | Const
dtype=efdFD?l | | AssignVariableOp VarHandleOp
dtype=efdFDbBhHl | | PlaceholderWithDefault
dtype=efdFDi | indices | TensorArrayGatherV3
dtype=efdFDi | lengths | TensorArrayConcatV3
dtype=efdFDl | index | TensorArrayReadV3
dtype=efdFDl | size | TensorArrayV3
dtype=efdil | shape | Empty
dtype=efdl | | AssignAddVariableOp AssignSubVariableOp TemporaryVariable Variable VariableV2
dtype=efdl | is_initialized | IsVariableInitialized
dtype=fd | | ResourceScatterAdd ResourceScatterDiv ResourceScatterMax ResourceScatterMin
    ResourceScatterMul ResourceScatterSub
dtype=fd? | | ResourceScatterUpdate
dtype=i | output | Const
elem_type=?i | elem | StackPopV2
elem_type=efdFDbBhHl | | StackPopV2
"""

Row = tuple[tuple[tuple[str, frozenset[DType]], ...], frozenset[str]]


def host_arguments(op: str, attrs: Mapping[str, Any]) -> frozenset[str] | None:
    """The inputs and outputs that the op's kernel for a GPU has in host memory; None if it has no
    kernel there. Those of strings, handles and variants are always on the host."""
    for conditions, host in _rows().get(op, ()):
        if all(_allows(attrs.get(attr), types) for attr, types in conditions):
            return host
    return None


def why_no_kernel(op: str, attrs: Mapping[str, Any]) -> str:
    """What keeps an op without a kernel there from a GPU."""
    if op not in _rows():
        return "TensorFlow has none either"
    if host_arguments(op, attrs) is None:
        types = [as_dtype(v).base.name for a in deciding_attrs(op) if (v := attrs.get(a))]
        return f"TensorFlow has none for {', '.join(types)}"
    return "TensorFlow's is not in minitf"


@cache
def deciding_attrs(op: str) -> tuple[str, ...]:
    """The attributes that decide which kernel it is, or whether there is one."""
    rows = _rows().get(op, ())
    return tuple(dict.fromkeys(attr for conditions, _ in rows for attr, _ in conditions))


def _allows(value: Any, types: frozenset[DType]) -> bool:
    return value is None or as_dtype(value).base in types


@cache
def _rows() -> dict[str, list[Row]]:
    rows: dict[str, list[Row]] = {}
    for line in _TABLE.replace("\n    ", " ").strip().splitlines():
        types, host, ops = line.split("|")
        conditions = tuple(_condition(text) for text in types.split())
        for op in ops.split():
            rows.setdefault(op, []).append((conditions, frozenset(host.split())))
    return rows


def _condition(text: str) -> tuple[str, frozenset[DType]]:
    attr, _, codes = text.partition("=")
    return attr, frozenset(resource if c == "R" else as_dtype(np.dtype(c)) for c in codes)
