"""File formats of TensorFlow: checkpoints, record files, and the protobuf wire form under them."""
