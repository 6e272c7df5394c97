"""tf.image's functions, one file per kind; minitf/image.py lists them."""
