"""Gradients of reads of variables; assignments and queues pass none on."""

from __future__ import annotations

from typing import Any

from minitf.gradients.registry import gradient, no_gradient


@gradient("ReadVariableOp")
def read_variable_op(op: Any, grad: Any) -> Any:
    return grad


no_gradient("Assign AssignAdd AssignSub ScatterAdd ScatterSub ScatterMul ScatterDiv")
no_gradient("ScatterNdUpdate ScatterNdAdd ScatterNdSub ScatterNdMul ScatterNdDiv")
no_gradient("VarIsInitializedOp VariableShape Assert PyFunc PyFuncStateless")
no_gradient("Queue QueueEnqueue QueueEnqueueMany QueueDequeue QueueDequeueMany QueueDequeueUpTo")
no_gradient("QueueClose QueueSize Stack StackPush StackPop StackClose")
no_gradient("GetSessionHandle GetSessionHandleV2 GetSessionTensor DeleteSessionTensor")
no_gradient("StringToNumber DecodeRaw RegexReplace StringJoin StringSplit AsString ReduceJoin")
no_gradient("StringToHashBucket StringToHashBucketFast StringToHashBucketStrong")
no_gradient("EncodeBase64 DecodeBase64")
