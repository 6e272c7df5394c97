"""tf.contrib.rnn: the cells and functions of tf.nn under their old names, and a few more."""

from minitf.contrib.rnn.attention_cell import AttentionCellWrapper
from minitf.contrib.rnn.highway import HighwayWrapper
from minitf.contrib.rnn.lstm_cells import (
    Conv1DLSTMCell,
    Conv2DLSTMCell,
    Conv3DLSTMCell,
    ConvLSTMCell,
    LayerNormBasicLSTMCell,
)
from minitf.rnn.cell import LayerRNNCell, RNNCell
from minitf.rnn.cells import BasicLSTMCell, BasicRNNCell, GRUCell, LSTMStateTuple
from minitf.rnn.dropout import DropoutWrapper
from minitf.rnn.lstm import LSTMCell
from minitf.rnn.multi import MultiRNNCell
from minitf.rnn.projection import (
    EmbeddingWrapper,
    InputProjectionWrapper,
    OutputProjectionWrapper,
)
from minitf.rnn.sizes import batch_size_of as best_effort_input_batch_size
from minitf.rnn.sizes import transpose_batch_time
from minitf.rnn.stacked import stack_bidirectional_dynamic_rnn, stack_bidirectional_rnn
from minitf.rnn.static import static_bidirectional_rnn, static_rnn, static_state_saving_rnn
from minitf.rnn.wrappers import DeviceWrapper, ResidualWrapper

__all__ = [
    "AttentionCellWrapper", "BasicLSTMCell", "BasicRNNCell", "Conv1DLSTMCell", "Conv2DLSTMCell",
    "Conv3DLSTMCell", "ConvLSTMCell", "DeviceWrapper", "DropoutWrapper", "EmbeddingWrapper",
    "GRUCell", "HighwayWrapper", "InputProjectionWrapper", "LSTMCell", "LSTMStateTuple",
    "LayerNormBasicLSTMCell", "LayerRNNCell", "MultiRNNCell", "OutputProjectionWrapper", "RNNCell",
    "ResidualWrapper", "best_effort_input_batch_size", "stack_bidirectional_dynamic_rnn",
    "stack_bidirectional_rnn", "static_bidirectional_rnn", "static_rnn", "static_state_saving_rnn",
    "transpose_batch_time",
]  # fmt: skip
