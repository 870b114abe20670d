"""`tf.profiler.experimental`: traces, by `jax.profiler`."""

from frontends.tf._names import attributes, exported_by
from frontends.tf.profiler.experimental import client as client
from frontends.tf.profiler.experimental import server as server
from frontends.tf.profiler.experimental.tracing import Profile as Profile
from frontends.tf.profiler.experimental.tracing import ProfilerOptions as ProfilerOptions
from frontends.tf.profiler.experimental.tracing import Trace as Trace
from frontends.tf.profiler.experimental.tracing import start as start
from frontends.tf.profiler.experimental.tracing import stop as stop

__getattr__, __dir__ = attributes(
    "tf.profiler.experimental", exported_by(__name__) | {"client": client, "server": server}
)
