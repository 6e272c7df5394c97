"""XLA_CPU: the second device of a task, as in TensorFlow 1.15's builds for the CPU.

Only an op that is asked to it goes there. What XLA compiles in TensorFlow is run by the kernels of
the CPU here; other ops have no kernel on it.
"""

from __future__ import annotations

XLA_CPU = "XLA_CPU"

COMPILED_OPS = frozenset(
    """
    Abs Acos Acosh Add AddN AddV2 All Angle Any ApproximateEqual ArgMax ArgMin Asin Asinh
    AssignAddVariableOp AssignSubVariableOp AssignVariableOp Atan Atan2 Atanh AvgPool AvgPool3D
    AvgPool3DGrad AvgPoolGrad BatchMatMul BatchMatMulV2 BatchToSpaceND BiasAdd BiasAddGrad
    BiasAddV1 Bitcast BitwiseAnd BitwiseOr BitwiseXor BroadcastArgs BroadcastGradientArgs
    BroadcastTo Bucketize Cast Ceil CheckNumerics Cholesky ClipByValue Complex ComplexAbs
    Concat ConcatOffset ConcatV2 Conj ConjugateTranspose Const Conv2D Conv2DBackpropFilter
    Conv2DBackpropInput Conv3D Conv3DBackpropFilterV2 Conv3DBackpropInputV2 Cos Cosh Cross
    Cumprod Cumsum DepthToSpace DepthwiseConv2dNative DepthwiseConv2dNativeBackpropFilter
    DepthwiseConv2dNativeBackpropInput DestroyResourceOp Diag DiagPart Digamma Div DivNoNan
    DynamicStitch Elu EluGrad Empty Equal Erf Erfc Exp ExpandDims Expm1 ExtractImagePatches FFT
    FFT2D FFT3D FIFOQueueV2 Fill Floor FloorDiv FloorMod FusedBatchNorm FusedBatchNormGrad
    FusedBatchNormGradV2 FusedBatchNormGradV3 FusedBatchNormV2 FusedBatchNormV3 Gather GatherNd
    GatherV2 Greater GreaterEqual IFFT IFFT2D IFFT3D IRFFT IRFFT2D IRFFT3D Identity Imag
    InTopKV2 Inv Invert InvertPermutation IsFinite IsInf IsNan L2Loss LRN LRNGrad LeakyRelu
    LeakyReluGrad LeftShift Less LessEqual Lgamma LinSpace ListDiff Log Log1p LogSoftmax
    LogicalAnd LogicalNot LogicalOr MatMul MatrixBandPart MatrixDiag MatrixDiagPart
    MatrixInverse MatrixSetDiag MatrixTriangularSolve Max MaxPool MaxPool3D MaxPool3DGrad
    MaxPool3DGradGrad MaxPoolGrad MaxPoolGradGrad MaxPoolGradGradV2 MaxPoolGradV2 MaxPoolV2
    Maximum Mean Min Minimum MirrorPad Mod Mul MulNoNan Multinomial Neg NextAfter NotEqual
    OneHot OnesLike Pack Pad PadV2 ParallelDynamicStitch PlaceholderWithDefault Pow
    PreventGradient Prod Qr RFFT RFFT2D RFFT3D RandomShuffle RandomStandardNormal RandomUniform
    RandomUniformInt Range Rank ReadVariableOp Real RealDiv Reciprocal ReciprocalGrad Relu
    Relu6 Relu6Grad ReluGrad Reshape ResourceApplyAdaMax ResourceApplyAdadelta
    ResourceApplyAdagrad ResourceApplyAdagradDA ResourceApplyAdagradV2 ResourceApplyAdam
    ResourceApplyAddSign ResourceApplyCenteredRMSProp ResourceApplyFtrl ResourceApplyFtrlV2
    ResourceApplyGradientDescent ResourceApplyKerasMomentum ResourceApplyMomentum
    ResourceApplyPowerSign ResourceApplyProximalAdagrad ResourceApplyProximalGradientDescent
    ResourceApplyRMSProp ResourceGather ResourceScatterAdd ResourceScatterDiv
    ResourceScatterMax ResourceScatterMin ResourceScatterMul ResourceScatterNdAdd
    ResourceScatterNdSub ResourceScatterNdUpdate ResourceScatterSub ResourceScatterUpdate
    ResourceStridedSliceAssign Reverse ReverseSequence ReverseV2 RightShift Rint Roll Round
    Rsqrt RsqrtGrad ScatterNd Select SelectV2 SelfAdjointEigV2 Selu SeluGrad Shape ShapeN
    Sigmoid SigmoidGrad Sign Sin Sinh Size Slice Snapshot Softmax SoftmaxCrossEntropyWithLogits
    Softplus SoftplusGrad Softsign SoftsignGrad SpaceToBatchND SpaceToDepth SparseMatMul
    SparseSoftmaxCrossEntropyWithLogits SparseToDense Split SplitV Sqrt SqrtGrad Square
    SquaredDifference Squeeze StatelessMultinomial StatelessRandomNormal StatelessRandomUniform
    StatelessRandomUniformInt StatelessTruncatedNormal StopGradient StridedSlice
    StridedSliceGrad Sub Sum Svd Tan Tanh TanhGrad TensorArrayCloseV3 TensorArrayConcatV3
    TensorArrayGatherV3 TensorArrayGradV3 TensorArrayReadV3 TensorArrayScatterV3
    TensorArraySizeV3 TensorArraySplitV3 TensorArrayV3 TensorArrayWriteV3 TensorScatterAdd
    TensorScatterSub TensorScatterUpdate Tile TopKV2 Transpose TruncateDiv TruncateMod
    TruncatedNormal Unpack UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd
    UnsortedSegmentSum VarHandleOp VarIsInitializedOp VariableShape Xdivy Xlogy ZerosLike _Arg
    """.split()
)  # TensorFlow 1.15.5's registered kernels of this device type, among the ops that are here
