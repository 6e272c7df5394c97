"""Ops of control flow: outside a loop or a condition they mean nothing. They are tested there."""

_WHY = "means something only inside a condition or a loop, where it is tested"

EXEMPT = dict.fromkeys(
    [
        "Switch", "RefSwitch", "Merge", "RefMerge", "Enter", "RefEnter", "Exit", "RefExit",
        "NextIteration", "RefNextIteration", "RefIdentity", "LoopCond", "StackV2", "StackPushV2",
        "StackPopV2", "StackCloseV2",
    ],
    _WHY,
)  # fmt: skip
