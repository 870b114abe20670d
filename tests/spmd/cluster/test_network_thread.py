"""The policy of gloo's thread, in a process that starts a backend of processors for a cluster."""

from tests.policies import needs_batch
from tests.ports import free_ports

_START = """
import os
import jax
from spmd import _jax_internals
from spmd.cluster.network_thread import schedule_network_thread_as_batch
within = _jax_internals.start_gloo_within
times = []
_jax_internals.start_gloo_within = lambda block: (times.append(1), within(block))
for _ in range(2):
    schedule_network_thread_as_batch()
jax.config.update("jax_cpu_collectives_implementation", "gloo")
jax.distributed.initialize("localhost:{port}", 1, 0)
jax.devices()
policies = [os.sched_getscheduler(int(thread)) for thread in os.listdir("/proc/self/task")]
print(len(times), policies.count(os.SCHED_BATCH), os.sched_getscheduler(0) == os.SCHED_OTHER)
"""


@needs_batch
def test_of_all_threads_gloos_alone_is_batch_work(words_of_new_python) -> None:
    (port,) = free_ports(1)
    assert words_of_new_python(_START.format(port=port)) == ["1", "1", "True"]
