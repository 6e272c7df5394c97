"""One task of the same training over bare sockets: python -m tools.bench.bare_task DESCRIPTION.

An empty message asks a ps for its parameters; gradients are applied and confirmed.
"""

from __future__ import annotations

import sys

import numpy as np
import zmq

from tools.bench.task import described, end_with_input, work


def serve(socket, model, optimizer, mine, alone):
    """A ps with the parameters `mine`; those are not copied for one worker `alone`: none of its
    gradients comes before it has all of them."""
    optimizer.start([model.params[i] for i in mine])
    while True:
        worker, *frames = socket.recv_multipart(copy=False)
        if len(frames[0]):
            optimizer.apply(arrays(frames, optimizer.params))
            socket.send_multipart([worker.bytes, b"done"])
        else:
            socket.send(worker.bytes, zmq.SNDMORE)
            socket.send_multipart(optimizer.params, copy=not alone)


def arrays(frames, like):
    return [np.frombuffer(f.buffer, p.dtype).reshape(p.shape) for f, p in zip(frames, like)]


def train(sockets, model):
    """A worker's step: parameters from every ps, gradients to every ps."""
    homes = [range(i, len(model.params), len(sockets)) for i in range(len(sockets))]

    def step():
        params = list(model.params)
        for socket in sockets:
            socket.send(b"")
        for socket, home in zip(sockets, homes):
            like = [model.params[i] for i in home]
            for i, value in zip(home, arrays(socket.recv_multipart(copy=False), like)):
                params[i] = value
        loss, grads = model.gradients(params)
        for socket, home in zip(sockets, homes):
            socket.send_multipart([grads[i] for i in home], copy=False)
        for socket in sockets:
            socket.recv()
        return loss

    return step


def main():
    task, model, optimizer = described(sys.argv[1])
    context, hosts, index = zmq.Context(), task["hosts"], task["index"]
    if task["job"] == "ps":
        end_with_input()
        socket = context.socket(zmq.ROUTER)
        socket.bind("tcp://" + hosts["ps"][index])
        mine = range(index, len(model.params), len(hosts["ps"]))
        serve(socket, model, optimizer, mine, len(hosts["worker"]) == 1)
    sockets = [context.socket(zmq.DEALER) for _ in hosts["ps"]]
    for socket, address in zip(sockets, hosts["ps"]):
        socket.connect("tcp://" + address)
    work(train(sockets, model))
    context.destroy(0)


if __name__ == "__main__":
    main()
