"""Eight simulated CPU devices, for the tests and the doctests alike."""

import spmd

spmd.simulate_devices(8)
