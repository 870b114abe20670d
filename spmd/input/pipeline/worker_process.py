"""A process that calls map functions for another one: `python -m spmd.input.pipeline.worker_process DESCRIPTOR`.

It ends when the other one closes the socket, and when that has ended.
"""

import os
import pickle
import signal
import socket
import sys
import threading
import time

import jax

from spmd.input.pipeline.map_function import MapFunction
from spmd.input.pipeline.messages import EndedError, receive, send
from spmd.input.pipeline.steps import many_of, one_of

_LOOK_SECONDS = 2.0


def serve(other: socket.socket) -> None:
    """Does what the other process asks for, until it closes the socket."""
    known: dict[int, MapFunction] = {}
    send(other, "ready")
    while True:
        forgets, new, numbers, draws, kind, given, full, x64 = receive(other)
        try:
            if forgets:
                known.clear()
            with jax.enable_x64(x64):
                for number, pickled in new.items():
                    known[number] = pickle.loads(pickled)()  # noqa: S301 (from the parent)
                functions = [known[number] for number in numbers]
                for function, draw in zip(functions, draws, strict=True):
                    assert function.sending
                    function.sending.draw_from(draw)
                many = kind == "many"
                result = many_of(functions, given, full) if many else one_of(functions, given)
            answer = True, result
        except Exception as error:
            answer = False, repr(error)
        try:
            send(other, answer)
        except EndedError:
            raise
        except Exception as error:  # of pickling: it may be any
            send(other, (False, repr(error)))


def _end_with_parent() -> None:
    """Ends this process when its parent has ended, even in the middle of a call."""
    parent = os.getppid()

    def look() -> None:
        while os.getppid() == parent:
            time.sleep(_LOOK_SECONDS)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=look, daemon=True).start()


def main(descriptor: int) -> None:
    """Serves the process that has the other end of a socket."""
    _end_with_parent()
    try:
        with socket.socket(fileno=descriptor) as other:
            serve(other)
    except EndedError:
        pass


if __name__ == "__main__":
    main(int(sys.argv[1]))
