"""The folder of an estimator that names none: a temporary one, which the tasks of a cluster on one machine share."""

import contextlib
import hashlib
import itertools
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from frontends.tf.train.cluster_spec import ClusterSpec

# `jaxtribute launch` sets it for all tasks of a job, the same after a restart.
_JOB = "JAXTRIBUTE_JOB"
_FRESH_SECONDS = 60
# The tasks of a cluster run the same script, so their first, second, ... estimators belong together.
_NUMBERS = itertools.count()


def default_folder(cluster: ClusterSpec, task_type: str, is_chief: bool) -> str:
    """Returns the folder of the next estimator of this process that names none.

    `jaxtribute launch` gives all tasks the same. Of another cluster the chief makes one, and the evaluator is told by a link.

    Args:
        cluster: of TF_CONFIG; empty without one.
        task_type: the job of this process.
        is_chief: whether it writes checkpoints.
    """
    number = next(_NUMBERS)
    job = os.environ.get(_JOB)
    if job:
        folder = _shared() / f"{job}-{number}"
        folder.mkdir(mode=0o700, exist_ok=True)
        return str(folder)
    link = _shared() / f"{_key(cluster)}-{number}" if cluster else None
    if link is not None and task_type == "evaluator":
        _remove_former(link)
        return str(link)
    folder = Path(tempfile.mkdtemp(prefix=f"estimator-{os.getpid()}-"))
    if link is not None and is_chief:
        new = link.with_name(f"{link.name}.{os.getpid()}")
        new.symlink_to(folder)
        new.replace(link)
    return str(folder)


def _shared() -> Path:
    """Returns the folder of folders, which belongs to this user."""
    shared = Path(tempfile.gettempdir()) / f"jaxtribute-estimators-{os.getuid()}"
    shared.mkdir(mode=0o700, exist_ok=True)
    if shared.is_symlink() or shared.stat().st_uid != os.getuid():
        raise PermissionError(
            f"{shared} belongs to somebody else. Name a folder: tf.estimator.RunConfig(model_dir=...)."
        )
    return shared


def _key(cluster: ClusterSpec) -> str:
    """Names a cluster by its addresses; an evaluator is not part of it for all tasks."""
    jobs: dict[str, Any] = {
        job: tasks for job, tasks in cluster.as_dict().items() if job != "evaluator"
    }
    return hashlib.sha256(json.dumps(jobs, sort_keys=True).encode()).hexdigest()[:16]


def _remove_former(link: Path) -> None:
    """Removes the link of a chief that is gone: that of an earlier program with the same addresses."""
    with contextlib.suppress(FileNotFoundError):
        chief = int(os.readlink(link).rpartition("estimator-")[2].partition("-")[0])
        if time.time() - link.lstat().st_mtime > _FRESH_SECONDS and not _runs(chief):
            link.unlink()


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
