"""tf.signal of TensorFlow 1.15.5: the graphs, and the numbers they give.

TF=tensorflow PYTHONPATH=tests PYTHON tests/data/signal/record.py > recorded.json.gz
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from data.seq2seq.record import record, wave  # noqa: E402
from recording import main, outcome  # noqa: E402

PROGRAMS = {}


def program(fn):
    PROGRAMS[fn.__name__] = fn
    return fn


def told(found):
    return [part for x in found for part in parts_of(x)], [x.shape for x in found]


def parts_of(x):
    """Complex numbers as two arrays, for JSON."""
    import importlib

    tf = importlib.import_module(type(x).__module__.split(".")[0].split("_")[0])
    return [tf.real(x), tf.imag(x)] if x.dtype.is_complex else [x]


@program
def windows(tf):
    s = tf.signal
    length = tf.placeholder_with_default(5, [])
    found = [
        s.hann_window(6),
        s.hann_window(5, periodic=False),
        s.hamming_window(4, dtype=tf.float64),
    ]
    found += [s.hann_window(1), s.hann_window(length), s.hamming_window(length, periodic=False)]
    return told(found)


@program
def frames(tf):
    s = tf.signal
    x = tf.constant(wave(2, 11))
    found = [s.frame(x, 4, 2), s.frame(x, 4, 3, pad_end=True, pad_value=9.0)]
    found += [s.frame(tf.placeholder_with_default(wave(3, 10, 2), [None, None, 2]), 6, 4, axis=1)]
    found += [s.frame(x, tf.placeholder_with_default(4, []), 6)]
    found += [s.overlap_and_add(wave(2, 3, 4), 2), s.overlap_and_add(wave(2, 3, 4), 3)]
    found += [s.overlap_and_add(wave(3, 4), 4)]
    unknown = tf.placeholder_with_default(wave(3, 4), None)
    found += [s.overlap_and_add(unknown, tf.placeholder_with_default(3, []))]
    found += tf.gradients(found[0], x)
    return told(found)


@program
def short_time(tf):
    s = tf.signal
    x = tf.constant(wave(2, 30))
    forward = s.stft(x, 6, 3)
    found = [forward, s.stft(x, 6, 4, fft_length=16, window_fn=None, pad_end=True)]
    found += [s.inverse_stft(forward, 6, 3, window_fn=s.inverse_stft_window_fn(3))]
    found += [
        s.inverse_stft(forward, 10, 5, fft_length=8),
        s.inverse_stft(forward, 8, 4, window_fn=None),
    ]
    size = tf.placeholder_with_default(6, [])
    again = s.stft(x, size, size // 2)
    found += [again, s.inverse_stft(again, size, 3)]
    return told(found + tf.gradients(tf.abs(forward), x))


@program
def cosine(tf):
    s = tf.signal
    x = tf.constant(wave(2, 5))
    found = [s.dct(x), s.dct(x, norm="ortho"), s.dct(x, 3), s.dct(x, 3, norm="ortho"), s.dct(x, 1)]
    found += [
        s.dct(x, n=3),
        s.dct(x, n=8),
        s.idct(x),
        s.idct(x, 3),
        tf.spectral.idct(s.dct(x, norm="ortho"), norm="ortho"),
    ]
    found += [s.fftshift(x), s.ifftshift(x), s.fftshift(x, 1), s.fftshift(x, [0])]
    unknown = tf.placeholder_with_default(wave(2, 5), [None, None])
    found += [s.dct(unknown, norm="ortho"), tf.spectral.dct(unknown, 3)]
    fetches, said = told(found + tf.gradients(found[1], x))
    said += [
        outcome(lambda: s.dct(x, 4)),
        outcome(lambda: s.dct(x, axis=0)),
        outcome(lambda: s.dct(x, n=0)),
        outcome(lambda: s.dct(x, norm="l2")),
        outcome(lambda: s.dct(x, 1, norm="ortho")),
        outcome(lambda: s.hann_window(3, dtype=tf.int32)),
        outcome(lambda: s.overlap_and_add(wave(2, 2), 1.0)),
        outcome(lambda: s.linear_to_mel_weight_matrix(0)),
        outcome(lambda: s.linear_to_mel_weight_matrix(upper_edge_hertz=5000.0)),
        outcome(lambda: s.linear_to_mel_weight_matrix(lower_edge_hertz=3900.0)),
    ]
    return fetches, said


@program
def mel(tf):
    s = tf.signal
    weights = s.linear_to_mel_weight_matrix(4, 17, 8000, 100.0, 3000.0)
    spectra = tf.abs(s.stft(tf.constant(wave(60)), 32, 8))
    logs = tf.log(tf.matmul(spectra, weights) + 1e-6)
    return told([weights, s.mfccs_from_log_mel_spectrograms(logs)])


if __name__ == "__main__":
    main(PROGRAMS, record)
