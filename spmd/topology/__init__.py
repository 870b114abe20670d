"""Devices and arrays on them: the mesh of a step, simulated devices, and where arrays lie."""

from spmd.topology.devices import find_devices as find_devices
from spmd.topology.layout import Layout as Layout
from spmd.topology.layout import axes_of as axes_of
from spmd.topology.layout import layout_of as layout_of
from spmd.topology.layout import num_replicas as num_replicas
from spmd.topology.mesh import make_mesh as make_mesh
from spmd.topology.mesh import mesh_of_cores as mesh_of_cores
from spmd.topology.mesh import mesh_of_replicas as mesh_of_replicas
from spmd.topology.placement import brought_together as brought_together
from spmd.topology.placement import copied as copied
from spmd.topology.placement import place as place
from spmd.topology.placement import place_all as place_all
from spmd.topology.placement import place_own as place_own
from spmd.topology.placement import readable as readable
from spmd.topology.placement import spans_processes as spans_processes
from spmd.topology.placement_log import log_placed as log_placed
from spmd.topology.placement_log import log_placements as log_placements
from spmd.topology.placement_log import logs_placements as logs_placements
from spmd.topology.simulation import simulate_devices as simulate_devices
from spmd.topology.simulation import simulation_environment as simulation_environment
from spmd.topology.visibility import compute_deterministically as compute_deterministically
from spmd.topology.visibility import limit_threads as limit_threads
from spmd.topology.visibility import use_gpus as use_gpus
from spmd.topology.visibility import use_platforms as use_platforms
