"""What make_tensor_proto and its kin say, recorded from TensorFlow 1.15.5.

TF=tensorflow PYTHONPATH=tests python tests/data/protos/record.py > outcomes.json.gz
"""

import numpy as np

from recording import main, outcome

PROGRAMS = {
    source: eval("lambda tf: " + source, {"np": np})
    for source in """
tf.make_tensor_proto(1)
tf.make_tensor_proto([1, 2, 3])
tf.make_tensor_proto([1, 1, 1])
tf.make_tensor_proto(1.5, shape=[2, 3])
tf.make_tensor_proto([1.5, 2.5], dtype=tf.float64, shape=[2, 3])
tf.make_tensor_proto([1.5, 2.5], dtype=tf.float16)
tf.make_tensor_proto([[True], [False]])
tf.make_tensor_proto(1 + 2j)
tf.make_tensor_proto(['a', u'b', b'c'])
tf.make_tensor_proto('a', shape=[2])
tf.make_tensor_proto(np.zeros([0, 2], np.int64))
tf.make_tensor_proto([1, 2, 3], shape=[2])
tf.make_tensor_proto([1, 2], shape=[2, 1], verify_shape=True)
tf.make_tensor_proto([1, 2], shape=[3], allow_broadcast=True)
tf.make_tensor_proto([1], shape=[3], allow_broadcast=True, verify_shape=True)
tf.make_tensor_proto(None)
tf.make_ndarray(tf.make_tensor_proto([1, 2, 3])).tolist()
tf.make_ndarray(tf.make_tensor_proto(1.5, shape=[2, 3])).tolist()
tf.make_ndarray(tf.make_tensor_proto([b'a', b'b'])).tolist()
tf.make_ndarray(tf.make_tensor_proto([1.5], dtype=tf.float16)).dtype
tf.make_ndarray(tf.constant([[1, 2]]).op.get_attr('value')).tolist()
tf.make_tensor_proto(tf.make_tensor_proto(3))
tf.TensorSpec([1, None], tf.int32, 'x')
tf.TensorSpec([1, None]).is_compatible_with(tf.zeros([1, 4]))
tf.TensorSpec([1, None]).is_compatible_with(tf.zeros([2, 4]))
tf.TensorSpec([1, None]).is_compatible_with(np.zeros([1, 4], np.int32))
tf.TensorSpec.from_tensor(tf.zeros([2], name='z'))
tf.TensorSpec.from_spec(tf.TensorSpec([2], tf.int8, 'a'), 'b') == tf.TensorSpec([2], tf.int8, 'b')
tf.dimension_value(tf.zeros([3]).shape[0])
tf.dimension_at_index(tf.TensorShape(None), 2)
tf.dimension_at_index(tf.TensorShape([3, 4]), 1)
tf.executing_eagerly()
tf.control_flow_v2_enabled()
tf.GRAPH_DEF_VERSION
tf.version.VERSION
tf.disable_v2_behavior()
""".strip().split("\n")
}


def run(tf, program):
    with tf.Graph().as_default():
        return outcome(lambda: program(tf))


if __name__ == "__main__":
    main(PROGRAMS, run)
