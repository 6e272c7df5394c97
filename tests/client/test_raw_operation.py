"""tf.Operation from a NodeDef: what the scopes would have set comes from the node alone."""

import pytest

import minitf as tf


def node(name="d", op="Add", **classes):
    made = tf.NodeDef(name=name, op=op)
    made.attr["T"].type = tf.float32.as_datatype_enum
    for group in classes.get("groups", ()):
        made.attr["_class"].list.s.append(group)
    return made


@pytest.fixture
def ab():
    with tf.device("/device:CPU:0"):
        return tf.constant(1.0, name="a"), tf.constant(2.0, name="b")


def test_it_takes_name_type_attributes_device_and_groups_from_the_node(ab):
    made = node(groups=[b"loc:@a"])
    made.device = "/job:localhost"
    with tf.name_scope("scope"), tf.device("/device:GPU:0"), tf.control_dependencies([ab[0]]):
        d = tf.Operation(made, tf.get_default_graph(), inputs=list(ab), output_types=[tf.float32])
    assert (d.name, d.type, d.device) == ("d", "Add", "/job:localhost")
    assert d.colocation_groups() == [b"loc:@a"] and d.control_inputs == []
    assert tf.get_default_graph().get_tensor_by_name("d:0") is d.outputs[0]
    assert d.outputs[0].shape.as_list() == []
    with tf.Session() as sess:
        assert sess.run(d.outputs[0]) == 3.0


def test_its_name_is_in_use_afterwards(ab):
    graph = tf.get_default_graph()
    tf.Operation(node(), graph, inputs=list(ab))
    assert tf.add(*ab, name="d").op.name == "d_1"
    with pytest.raises(ValueError, match="Duplicate node name in graph: 'd'"):
        tf.Operation(node(), graph, inputs=list(ab))


def test_control_inputs_and_a_group_that_names_no_node(ab):
    """A group's name need not be a node's: TF 1.15.5 runs this."""
    d = tf.Operation(
        node(groups=[b"loc:@ghost"]), ab[0].graph, inputs=list(ab), control_inputs=[ab[0]]
    )
    assert d.control_inputs == [ab[0].op]
    with tf.Session() as sess:
        assert sess.run(d.outputs[0]) == 3.0


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        (dict(node_def="d"), TypeError, "node_def needs to be a NodeDef: d"),
        (dict(g=None), TypeError, "g needs to be a Graph: None"),
        (dict(inputs=(1,)), TypeError, "inputs needs to be a list of Tensors"),
        (dict(inputs=[1, 2]), TypeError, "input needs to be a Tensor: 1"),
        (dict(inputs=[]), ValueError, "takes 2 inputs, got 0"),
        (dict(node_def=tf.NodeDef(name="d", op="Add")), ValueError, "missing attr 'T'"),
        (dict(node_def=node(name="a b")), ValueError, "'a b' is not a valid node name"),
        (dict(node_def=node(op="Nothing")), tf.errors.NotFoundError, "Op type not registered"),
    ],
)
def test_what_does_not_fit(ab, change, error, text):
    given = dict(node_def=node(), g=ab[0].graph, inputs=list(ab))
    with pytest.raises(error, match=text):
        tf.Operation(**(given | change))


def test_two_devices_by_reference_or_handle_cannot_meet():
    """The apply op of one variable and another's slot, on different tasks (TF: raw_ops)."""
    with tf.device("/device:CPU:0"):
        a = tf.get_variable("a", [2], use_resource=True)
    with tf.device("/device:XLA_CPU:0"):
        m = tf.get_variable("m", [2], use_resource=True)
    apply = tf.raw_ops.ResourceApplyMomentum(
        var=a.handle, accum=m.handle, lr=0.1, grad=[1.0, 1.0], momentum=0.9, name="up"
    )
    text = "reference or resource edge connects colocation groups with incompatible resource"
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match=text):
        sess.run(apply)


def test_an_op_without_a_kernel_for_its_type():
    v = tf.get_variable("v", [2], dtype=tf.int32, initializer=tf.zeros_initializer())
    up = tf.raw_ops.ApplyGradientDescent(var=v._ref(), alpha=1, delta=[1, 1], name="up")
    text = "No OpKernel was registered to support Op 'ApplyGradientDescent' used by"
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match=text):
        sess.run(up)
