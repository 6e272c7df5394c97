"""tf.data: input pipelines. Loaded when a program first uses it."""

from __future__ import annotations

from minitf.lazily import lazily as _lazily

__getattr__, __dir__ = _lazily(globals(), {
    "minitf.data.dataset": "Dataset",
    "minitf.data.iterator": "Iterator",
    "minitf.data.options": "Options",
    "minitf.data.structure": "DatasetSpec",
    "minitf.data.readers": "FixedLengthRecordDataset TFRecordDataset TextLineDataset",
    "minitf.data.legacy": """
        get_output_classes get_output_shapes get_output_types make_initializable_iterator
        make_one_shot_iterator""",
    "minitf.data.experimental": "",
})  # fmt: skip
