"""The official schemas of Kubernetes, TFJob and JobSet, from the packages that their projects publish; one of ours for RayCluster.

Kubernetes: its OpenAPI as JSON schemas, in `kubernetes-validate`. JobSet: models made from its OpenAPI, in
Kubeflow's `kubeflow-trainer-api`. TFJob: the same in `kubeflow-training`; their types are checked here. KubeRay publishes no
package with its schema: the fields of a RayCluster are listed here, as its API reference has them.
"""

import functools
from typing import Any

import jsonschema
import kubernetes_validate
import yaml
from kubeflow.training import models

INVALID = (
    AssertionError,
    AttributeError,
    jsonschema.ValidationError,
    kubernetes_validate.ValidationError,
)
OLDEST, NEWEST = "1.31", kubernetes_validate.latest_version()


def read(text: str) -> list[dict[str, Any]]:
    """Reads all manifests but the NetworkPolicy, which every job has."""
    return [each for each in yaml.safe_load_all(text) if each["kind"] != "NetworkPolicy"]


def read_policy(text: str) -> dict[str, Any]:
    (policy,) = (each for each in yaml.safe_load_all(text) if each["kind"] == "NetworkPolicy")
    return policy


def check_kubernetes(manifest: dict[str, Any]) -> None:
    """Fails unless a manifest is what Kubernetes takes, with no field that it does not know."""
    for version in (OLDEST, NEWEST):
        kubernetes_validate.validate(manifest, version, strict=True)


def check_pod_template(template: dict[str, Any]) -> None:
    check_kubernetes({"apiVersion": "v1", "kind": "PodTemplate", "template": template})


def check_jobset(manifest: dict[str, Any]) -> None:
    """Fails unless a manifest is a JobSet, and its Jobs are Jobs, with no field that is not known."""
    _jobset_validator().validate(manifest)
    for job in manifest["spec"]["replicatedJobs"]:
        check_kubernetes(
            {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}, **job["template"]}
        )


@functools.cache
def _jobset_validator() -> jsonschema.Draft202012Validator:
    # Here, because its 400 modules take two seconds, and every worker reads this file.
    from kubeflow_trainer_api.models.jobset_v1alpha2_job_set import JobsetV1alpha2JobSet

    schema = JobsetV1alpha2JobSet.model_json_schema(by_alias=True)
    # Kubernetes's own types of several kinds, which the generator of the models makes objects of.
    for name in ("ApiResourceQuantity", "UtilIntstrIntOrString"):
        schema["$defs"][f"IoK8sApimachineryPkg{name}"] = {"type": ["string", "integer"]}
    for each in [schema, *schema["$defs"].values()]:
        if "properties" in each:
            each["additionalProperties"] = False
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def check_tfjob(manifest: dict[str, Any]) -> None:
    """Fails unless a manifest is a TFJob with pods of Kubernetes, with no field that is not known."""
    _make("KubeflowOrgV1TFJob", manifest)
    for replica in manifest["spec"]["tfReplicaSpecs"].values():
        # The operator fills in the restart policy of the pods.
        check_pod_template(replica["template"])


def _make(kind: str, value: Any) -> Any:
    """Makes a value of a type as the models name it; they check what is required themselves."""
    if kind.startswith("dict(str, "):
        return {name: _make(kind[len("dict(str, ") : -1], each) for name, each in value.items()}
    if kind in ("str", "int", "bool"):
        assert type(value).__name__ == kind, value
        return value
    if kind in ("V1ObjectMeta", "V1PodTemplateSpec"):
        return value
    model = getattr(models, kind)
    names = {alias: name for name, alias in model.attribute_map.items()}
    assert not value.keys() - names.keys(), f"{kind} has not {value.keys() - names.keys()}"
    return model(
        **{names[key]: _make(model.openapi_types[names[key]], each) for key, each in value.items()}
    )


def _fields(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


_TEXTS = {"type": "object", "additionalProperties": {"type": "string"}}
_COUNT = {"type": "integer", "minimum": 0}
_RAYCLUSTER = _fields(
    ("apiVersion", "kind", "metadata", "spec"),
    apiVersion={"const": "ray.io/v1"},
    kind={"const": "RayCluster"},
    metadata=_fields(("name",), name={"type": "string", "maxLength": 50}, labels=_TEXTS),
    spec=_fields(
        ("rayVersion", "headGroupSpec"),
        rayVersion={"type": "string", "pattern": r"^\d+\.\d+\.\d+"},
        authOptions=_fields(mode={"enum": ["disabled", "token"]}, secretName={"type": "string"}),
        headGroupSpec=_fields(("template",), rayStartParams=_TEXTS, template={"type": "object"}),
        workerGroupSpecs={
            "type": "array",
            "items": _fields(
                ("groupName", "minReplicas", "maxReplicas", "template"),
                groupName={"type": "string"},
                replicas=_COUNT,
                minReplicas=_COUNT,
                maxReplicas=_COUNT,
                rayStartParams=_TEXTS,
                template={"type": "object"},
            ),
        },
    ),
)


def check_raycluster(manifest: dict[str, Any]) -> None:
    """Fails unless a manifest is a RayCluster with pods of Kubernetes, or a kind of Kubernetes's own."""
    if manifest["kind"] != "RayCluster":
        check_kubernetes(manifest)
        return
    jsonschema.validate(manifest, _RAYCLUSTER)
    spec = manifest["spec"]
    for group in (spec["headGroupSpec"], *spec["workerGroupSpecs"]):
        check_pod_template(group["template"])
