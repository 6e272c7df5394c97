"""The ops that pass no gradient on, by TF's own list.

Ops neither here nor with a function raise LookupError when a gradient would pass them, as in TF.
"""

from minitf.gradients.registry import no_gradient

# Steps, and what has whole numbers or bools as values.
no_gradient("Floor Ceil Round Rint FloorDiv TruncateDiv ArgMax ArgMin EuclideanNorm Range LinSpace")
no_gradient("Less LessEqual Greater GreaterEqual Equal NotEqual ApproximateEqual")
no_gradient("LogicalAnd LogicalOr LogicalNot")
no_gradient("BitwiseAnd BitwiseOr BitwiseXor Invert LeftShift RightShift PopulationCount")

# Constants, and what depends on shapes alone.
no_gradient("Const StopGradient ZerosLike OnesLike OneHot Timestamp")
no_gradient("Shape ShapeN Rank Size BroadcastGradientArgs ConcatOffset InvertPermutation")

# Random numbers.
no_gradient("RandomStandardNormal RandomUniform TruncatedNormal Multinomial StatelessMultinomial")
no_gradient("StatelessRandomNormal StatelessRandomUniform StatelessRandomUniformInt")
no_gradient("StatelessTruncatedNormal")

# State: assignments, queues, arrays of tensors.
no_gradient("Assign AssignAdd AssignSub ScatterAdd ScatterSub ScatterMul ScatterDiv")
no_gradient("ScatterNdUpdate ScatterNdAdd ScatterNdSub VarIsInitializedOp VariableShape")
no_gradient("QueueEnqueue QueueEnqueueMany QueueDequeue QueueDequeueMany QueueDequeueUpTo")
no_gradient("QueueClose QueueSize")
no_gradient("TensorArrayV3 TensorArrayGradV3 TensorArraySizeV3 TensorArrayCloseV3")

# Python, strings, sets.
no_gradient("Assert PyFunc PyFuncStateless")
no_gradient("StringToNumber DecodeRaw RegexReplace StringJoin StringSplit AsString ReduceJoin")
no_gradient("StringToHashBucket StringToHashBucketFast StringToHashBucketStrong")
no_gradient("EncodeBase64 DecodeBase64 DenseToDenseSetOperation SparseAddGrad SparseConcat")
