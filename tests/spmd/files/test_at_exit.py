"""What is done before the thread pools of a process end."""

PROGRAM = """
import os, sys
from concurrent.futures import ThreadPoolExecutor
from spmd.files import before_threads_end

pool = ThreadPoolExecutor(1)
pool.submit(os.getpid).result()  # Python 3.12.0 to 3.12.2 start no thread at the end
before_threads_end(lambda: print("first", pool.submit(os.getpid).result() == os.getpid(), flush=True))

def fail():
    raise ValueError("of one")

def child():
    print("child", flush=True)

before_threads_end(fail)
before_threads_end(lambda: print("last", flush=True))
before_threads_end(fail)
if os.fork() == 0:
    before_threads_end(child)
    sys.exit()
os.wait()
print("end", flush=True)
"""


def test_the_last_one_is_called_first_and_an_error_stops_none(run_python):
    task = run_python("-W", "ignore", "-c", PROGRAM)
    assert task.stdout.splitlines() == ["child", "end", "last", "first True"]
    assert task.stderr.count("ValueError: of one") == 1
