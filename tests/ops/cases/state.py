"""Ops on variables have no cases here: what they do is seen in the variable, not in a result."""

_HOW = "changes a variable: test_updates.py"
_VARIABLE = "makes, reads or replaces a variable: client/test_variables.py"
_DENSE = (
    "AdaMax Adadelta Adagrad AdagradDA AdagradV2 Adam AddSign CenteredRMSProp Ftrl FtrlV2 "
    "GradientDescent Momentum PowerSign ProximalAdagrad ProximalGradientDescent RMSProp"
).split()
_BY_HANDLE = ["AdamWithAmsgrad", "KerasMomentum"]
_ONLY_DENSE = {"AdaMax", "Adam", "AdamWithAmsgrad", "AddSign", "GradientDescent", "PowerSign"}
_SPARSE = [rule for rule in _DENSE if rule not in _ONLY_DENSE]
_SCATTERS = [f"Scatter{how}" for how in "Update Add Sub Mul Div Min Max".split()]
_SCATTERS += [f"ScatterNd{how}" for how in ("Update", "Add", "Sub")]

EXEMPT = {
    **{f"Apply{rule}": _HOW for rule in _DENSE},
    **{f"SparseApply{rule}": _HOW for rule in _SPARSE},
    **{f"ResourceApply{rule}": _HOW for rule in _DENSE + _BY_HANDLE},
    **{f"ResourceSparseApply{rule}": _HOW for rule in [*_SPARSE, "KerasMomentum"]},
    **{f"{form}{name}": _HOW for form in ("", "Resource") for name in _SCATTERS},
    **dict.fromkeys(
        (
            "Assign", "AssignAdd", "AssignAddVariableOp", "AssignSub", "AssignSubVariableOp",
            "AssignVariableOp", "CountUpTo", "DestroyResourceOp", "DestroyTemporaryVariable",
            "IsVariableInitialized", "ReadVariableOp", "ResourceCountUpTo", "ResourceGather",
            "ResourceGatherNd", "TemporaryVariable", "VarHandleOp", "VarIsInitializedOp",
            "Variable", "VariableShape", "VariableV2",
        ),
        _VARIABLE,
    ),
}  # fmt: skip
