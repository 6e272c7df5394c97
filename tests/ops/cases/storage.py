"""Ops on files and summaries: what they do is outside of tensors."""

_FILES = "reads or writes files"
_SUMMARY = "gives a serialised message"
EXEMPT = {
    **dict.fromkeys(
        [
            "MatchingFiles", "MergeV2Checkpoints", "ReadFile", "RestoreV2", "SaveSlices",
            "SaveV2", "ShardedFilename", "ShardedFilespec", "WriteFile",
        ],
        _FILES,
    ),
    **dict.fromkeys(
        [
            "AudioSummaryV2", "HistogramSummary", "ImageSummary", "MergeSummary", "ScalarSummary",
            "TensorSummaryV2",
        ],
        _SUMMARY,
    ),
}  # fmt: skip
