"""Messages of checkpoints: which ops save and restore, and which checkpoints there are."""

from __future__ import annotations

from minitf.proto.kinds import BOOL, DOUBLE, FLOAT, INT32, STRING, Enum
from minitf.proto.message import Message, Repeated, Scalar


class SaverDef(Message):
    """The names of a saver's ops, and how many checkpoints it keeps."""

    CheckpointFormatVersion = Enum(LEGACY=0, V1=1, V2=2)
    LEGACY, V1, V2 = CheckpointFormatVersion.values()

    filename_tensor_name = Scalar(STRING, 1)
    save_tensor_name = Scalar(STRING, 2)
    restore_op_name = Scalar(STRING, 3)
    max_to_keep = Scalar(INT32, 4)
    sharded = Scalar(BOOL, 5)
    keep_checkpoint_every_n_hours = Scalar(FLOAT, 6)
    version = Scalar(CheckpointFormatVersion, 7)


class CheckpointState(Message):
    """The file `checkpoint` of a directory: the last checkpoint and those that are kept."""

    model_checkpoint_path = Scalar(STRING, 1)
    all_model_checkpoint_paths = Repeated(STRING, 2)
    all_model_checkpoint_timestamps = Repeated(DOUBLE, 3)
    last_preserved_timestamp = Scalar(DOUBLE, 4)
