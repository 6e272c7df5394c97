"""tf.contrib.seq2seq: decoders, what chooses their inputs, attention, beam search, and the loss."""

from minitf.contrib.seq2seq.attention import (
    AttentionMechanism,
    BahdanauAttention,
    LuongAttention,
    hardmax,
)
from minitf.contrib.seq2seq.attention_wrapper import AttentionWrapper, AttentionWrapperState
from minitf.contrib.seq2seq.basic_decoder import BasicDecoder, BasicDecoderOutput
from minitf.contrib.seq2seq.beam_search import BeamSearchDecoder, FinalBeamSearchDecoderOutput
from minitf.contrib.seq2seq.beam_step import BeamSearchDecoderOutput, BeamSearchDecoderState
from minitf.contrib.seq2seq.beams import gather_tree, tile_batch
from minitf.contrib.seq2seq.decoder import Decoder, dynamic_decode
from minitf.contrib.seq2seq.helper import CustomHelper, Helper, TrainingHelper
from minitf.contrib.seq2seq.inference import (
    GreedyEmbeddingHelper,
    InferenceHelper,
    SampleEmbeddingHelper,
)
from minitf.contrib.seq2seq.loss import sequence_loss
from minitf.contrib.seq2seq.monotonic import (
    BahdanauMonotonicAttention,
    LuongMonotonicAttention,
    monotonic_attention,
    safe_cumprod,
)
from minitf.contrib.seq2seq.scheduled import (
    ScheduledEmbeddingTrainingHelper,
    ScheduledOutputTrainingHelper,
)

__all__ = [
    "AttentionMechanism", "AttentionWrapper", "AttentionWrapperState", "BahdanauAttention",
    "BahdanauMonotonicAttention", "BasicDecoder", "BasicDecoderOutput", "BeamSearchDecoder",
    "BeamSearchDecoderOutput", "BeamSearchDecoderState", "CustomHelper", "Decoder",
    "FinalBeamSearchDecoderOutput", "GreedyEmbeddingHelper", "Helper", "InferenceHelper",
    "LuongAttention", "LuongMonotonicAttention", "SampleEmbeddingHelper",
    "ScheduledEmbeddingTrainingHelper", "ScheduledOutputTrainingHelper", "TrainingHelper",
    "dynamic_decode", "gather_tree", "hardmax", "monotonic_attention", "safe_cumprod",
    "sequence_loss", "tile_batch",
]  # fmt: skip
