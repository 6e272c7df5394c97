"""tf.contrib.seq2seq: the loss of sequences. Its decoders and attention are left out."""

from minitf.contrib.seq2seq.loss import sequence_loss

__all__ = ["sequence_loss"]
