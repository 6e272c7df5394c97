"""tf.nn.rnn_cell: the cells of recurrent networks. Names only."""

from minitf.rnn.cell import RNNCell
from minitf.rnn.cells import BasicLSTMCell, BasicRNNCell, GRUCell, LSTMStateTuple
from minitf.rnn.dropout import DropoutWrapper
from minitf.rnn.lstm import LSTMCell
from minitf.rnn.multi import MultiRNNCell
from minitf.rnn.wrappers import DeviceWrapper, ResidualWrapper

__all__ = [
    "BasicLSTMCell", "BasicRNNCell", "DeviceWrapper", "DropoutWrapper", "GRUCell", "LSTMCell",
    "LSTMStateTuple", "MultiRNNCell", "RNNCell", "ResidualWrapper",
]  # fmt: skip
