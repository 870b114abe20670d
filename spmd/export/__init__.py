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

from spmd.export.artifact import Artifact as Artifact
from spmd.export.artifact import is_artifact as is_artifact
from spmd.export.artifact import load as load
from spmd.export.artifact import remove as remove
from spmd.export.artifact import save as save
from spmd.export.endpoint import ArraySpec as ArraySpec
from spmd.export.endpoint import Endpoint as Endpoint
from spmd.export.endpoint import LoadedEndpoint as LoadedEndpoint
from spmd.export.endpoint import output_names as output_names
