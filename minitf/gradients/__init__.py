"""tf.gradients: the driver, and one table of gradient functions per domain. Importing this fills the table."""

from minitf.gradients import (  # noqa: F401
    arithmetic,
    array,
    conv,
    diagonal,
    elementwise,
    gather,
    linalg,
    matmul,
    nn,
    normalization,
    pooling,
    random,
    reduction,
    segment,
    slicing,
    state,
)
