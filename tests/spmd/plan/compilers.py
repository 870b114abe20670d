"""Which of XLA's compilers are installed here: for TPUs in CI, where the wheel can be had; for GPUs by hand."""

import pytest

from spmd.errors import PlanError
from spmd.plan import parse_topology
from spmd.plan.environment import check_compiler


def missing(topology: str) -> str:
    """Why XLA cannot compile for a topology here; empty if it can."""
    try:
        check_compiler(parse_topology(topology))
    except PlanError as error:
        return str(error)
    return ""


needs_tpu_compiler = pytest.mark.skipif(
    bool(missing("v5e:2x2")),
    reason="libtpu, XLA's compiler for TPUs, has no wheel for this machine",
)
needs_gpu_compiler = pytest.mark.skipif(
    bool(missing("h100:8")), reason="the wheels of the extra gpu-plan are not installed"
)
