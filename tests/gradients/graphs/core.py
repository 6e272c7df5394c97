"""The table of programs and how a graph is written as text. Runs on TensorFlow 1.15 as well."""

CASES = {}


def case(fn):
    CASES[fn.__name__] = fn
    return fn


def floats(tf, *shapes):
    return [
        tf.placeholder(tf.float32, s, name="x%d" % i if i else "x") for i, s in enumerate(shapes)
    ]


def lines(tf, build):
    """The graph that `build` makes, a line for each op; a last line for an error."""
    error = []
    with tf.Graph().as_default() as graph:
        try:
            build(tf)
        except (ValueError, NotImplementedError) as e:
            error.append("raises " + type(e).__name__)
    return [line(op) for op in graph.get_operations()] + error


def line(op):
    inputs = [t.name for t in op.inputs] + sorted("^" + c.name for c in op.control_inputs)
    groups = [g.decode() for g in op.colocation_groups() if g.decode() != "loc:@" + op.name]
    where = [op.device] if op.device else []
    return " ".join(["%s = %s(%s)" % (op.name, op.type, ", ".join(inputs))] + where + groups)
