"""The ops that pass no gradient on, by TF's own list.

Ops neither here nor with a function raise LookupError when a gradient would pass them, as in TF.
"""

from minitf.gradients.registry import undifferentiable

for _types in (
    # Steps, and what has whole numbers or bools as values.
    "Floor Ceil Round Rint FloorDiv TruncateDiv ArgMax ArgMin EuclideanNorm Range LinSpace",
    "Less LessEqual Greater GreaterEqual Equal NotEqual ApproximateEqual",
    "LogicalAnd LogicalOr LogicalNot",
    "BitwiseAnd BitwiseOr BitwiseXor Invert LeftShift RightShift PopulationCount",
    # Constants, and what depends on shapes alone.
    "Const StopGradient ZerosLike OnesLike OneHot Timestamp",
    "AudioSummaryV2 HistogramSummary ImageSummary MergeSummary ScalarSummary TensorSummaryV2",
    "Shape ShapeN Rank Size BroadcastGradientArgs ConcatOffset InvertPermutation EditDistance",
    # Random numbers.
    "RandomStandardNormal RandomUniform TruncatedNormal Multinomial StatelessMultinomial",
    "StatelessRandomNormal StatelessRandomUniform StatelessRandomUniformInt",
    "StatelessTruncatedNormal",
    # State: assignments, queues, arrays of tensors.
    "Assign AssignAdd AssignSub ScatterAdd ScatterSub ScatterMul ScatterDiv",
    "ScatterNdUpdate ScatterNdAdd ScatterNdSub VarIsInitializedOp VariableShape",
    "QueueEnqueue QueueEnqueueMany QueueDequeue QueueDequeueMany QueueDequeueUpTo",
    "QueueClose QueueSize",
    "TensorArrayV3 TensorArrayGradV3 TensorArraySizeV3 TensorArrayCloseV3",
    # Readers, and what they read.
    "ReaderRead ReaderReadUpTo ReaderNumRecordsProduced ReaderNumWorkUnitsCompleted",
    "ReaderSerializeState ReaderRestoreState ReaderReset IdentityReader WholeFileReader",
    "TextLineReader TFRecordReader FixedLengthRecordReader LMDBReader",
    "ParseTensor SerializeTensor ReduceDataset",
    # Python, strings, sets.
    "Assert PyFunc PyFuncStateless",
    "StringToNumber DecodeRaw RegexReplace StringJoin StringSplit AsString ReduceJoin",
    "StringToHashBucket StringToHashBucketFast StringToHashBucketStrong",
    "EncodeBase64 DecodeBase64 SparseAddGrad SparseConcat",
    "SetSize DenseToDenseSetOperation DenseToSparseSetOperation SparseToSparseSetOperation",
):
    undifferentiable(*_types.split())
