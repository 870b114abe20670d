"""Programs on disk: what a trained model computes, for machines without its code and without its devices.

An *endpoint* is a function of weights and inputs. An *artifact* is a directory with endpoints and the
weights that they share:

    manifest.json     names, shapes and dtypes; versions; notes of the writer
    weights/          the weights, written by Orbax
    state/            arrays that no endpoint needs, such as the state of an optimizer, likewise
    NAME.stablehlo    each endpoint, compiled by `jax.export` for CPU, CUDA and TPU

Sizes that a specification leaves open (`None`), such as the number of rows, stay open in the program.
Nothing in an artifact is pickled: reading it runs no code. JAX reads programs of its own releases of the
last six months; the manifest names the version that wrote it.
"""

from spmd.export.artifact import Artifact, is_artifact, load, save
from spmd.export.endpoint import ArraySpec, Endpoint, LoadedEndpoint

__all__ = ["ArraySpec", "Artifact", "Endpoint", "LoadedEndpoint", "is_artifact", "load", "save"]
