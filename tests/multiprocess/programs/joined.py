"""What programs that use the engine alone begin with: importing it joins the cluster of TF_CONFIG, if there is one.

Attributes:
    me: the number of this process.
    mesh: all devices of all processes.
"""

import spmd
from spmd import cluster

_mine = cluster.from_tf_config()
if _mine is not None:
    cluster.initialize([task.address for task in _mine.processes], _mine.process_id)
me = 0 if _mine is None else _mine.process_id
mesh = spmd.make_mesh()
