"""One task of a cluster that runs a graph: python -m tools.bench.graph_task MODULE DESCRIPTION."""

from __future__ import annotations

import sys
import time

from tools.bench.measure import load
from tools.bench.models import variables
from tools.bench.task import described, end_with_input, work


def main():
    tf = load(sys.argv[1])
    task, model, optimizer = described(sys.argv[2])
    cluster = tf.train.ClusterSpec(task["hosts"])
    server = tf.train.Server(cluster, job_name=task["job"], task_index=task["index"])
    if task["job"] == "ps":
        end_with_input()
        server.join()
    worker = "/job:worker/task:%d" % task["index"]
    with tf.device(tf.train.replica_device_setter(worker_device=worker, cluster=cluster)):
        loss, feeds = model.loss(tf, variables(tf, model.params))
        steps = tf.train.get_or_create_global_step()
        train = optimizer.in_graph(tf).minimize(loss, global_step=steps)
    config = tf.ConfigProto(device_filters=["/job:ps", worker])
    with tf.Session(server.target, config=config) as session:
        if task["index"] == 0:
            session.run(tf.global_variables_initializer())
        missing = tf.report_uninitialized_variables()
        while session.run(missing).size:
            time.sleep(0.02)
        work(lambda: session.run([loss, train], feeds)[0])


if __name__ == "__main__":
    main()
