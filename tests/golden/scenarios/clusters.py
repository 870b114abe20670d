"""What the cluster resolvers say of TF_CONFIG, Slurm, pods, machines and TPUs, and what a ClusterSpec answers."""

import json
import os
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any
from unittest import mock

from tests.golden.scenarios.base import NONE, Case, Setting, scenario

GROUP = "clusters"
WORKERS = {"worker": ["a:1", "b:1"]}
SPARSE = {"worker": {1: "b:1", 3: "d:1"}, "ps": ["p:1"]}


def _described(resolver: Any) -> dict:
    """Everything that a resolver says. The cluster comes first: Slurm's knows its task only then."""
    cluster = resolver.cluster_spec()
    return {
        "cluster": repr(cluster),
        "task": (resolver.task_type, resolver.task_id),
        "master": resolver.master(),
        "rpc_layer": getattr(resolver, "rpc_layer", None),
        "environment": resolver.environment,
    }


def _in(environment: dict[str, str], function: Any) -> Any:
    with mock.patch.dict(os.environ, environment):
        for name in ("TF_CONFIG", "TPU_NAME"):
            if name not in environment:
                os.environ.pop(name, None)
        return function()


@scenario("clusters.spec", GROUP, NONE)
def spec(s: Setting) -> Iterator[Case]:
    make = s.tf.train.ClusterSpec
    dense, sparse = make({**WORKERS, "ps": ("p:1",)}), make(SPARSE)
    yield "repr", lambda: [repr(dense), repr(sparse), repr(make({}))]
    yield "as_dict", lambda: [dense.as_dict(), sparse.as_dict(), make({"ps": []}).as_dict()]
    yield "jobs", lambda: [dense.jobs, sparse.jobs, make({}).jobs]
    yield "num_tasks", lambda: [dense.num_tasks("worker"), sparse.num_tasks("worker")]
    yield "task_indices", lambda: [dense.task_indices("worker"), sparse.task_indices("worker")]
    yield (
        "task_address",
        lambda: [dense.task_address("worker", 1), sparse.task_address("worker", 3)],
    )
    yield "job_tasks", lambda: [dense.job_tasks("ps"), sparse.job_tasks("worker")]
    yield "bool", lambda: [bool(dense), bool(make({})), bool(make({"ps": []}))]
    yield (
        "equal",
        lambda: [
            make(WORKERS) == make({"worker": {"0": "a:1", "1": "b:1"}}),
            make(WORKERS) == {"worker": {0: "a:1", 1: "b:1"}},
            make(WORKERS) != sparse,
            make(dense) == dense,
        ],
    )
    yield "no_hash", lambda: hash(dense)
    yield "no_job", lambda: dense.num_tasks("chief")
    yield "no_task", lambda: dense.task_address("worker", 2)
    yield "no_task_in_sparse", lambda: sparse.task_address("worker", 0)
    for name, wrong in {
        "list": ["a:1"],
        "text": "a:1",
        "none": None,
        "tasks_text": {"worker": "a:1"},
        "address_number": {"worker": [1]},
        "address_none": {"worker": [None]},
        "job_number": {1: ["a:1"]},
    }.items():
        yield f"wrong_{name}", lambda wrong=wrong: make(wrong)


@scenario("clusters.tf_config", GROUP, NONE)
def tf_config(s: Setting) -> Iterator[Case]:
    make = s.tf.distribute.cluster_resolver.TFConfigClusterResolver

    def read(config: Any, **arguments: Any) -> Any:
        return _in({"TF_CONFIG": json.dumps(config)}, lambda: _described(make(**arguments)))

    def task(job: str, index: Any) -> dict:
        return {"type": job, "index": index}

    every = {"chief": ["c:1"], **WORKERS, "ps": ["p:1"], "evaluator": ["e:1"]}
    yield "not_set", lambda: _in({}, lambda: _described(make()))
    for name, config in {
        "empty": {},
        "empty_cluster": {"cluster": {}, "task": task("worker", 0)},
        "worker": {"cluster": WORKERS, "task": task("worker", 1)},
        "one_worker": {"cluster": {"worker": ["a:1"]}, "task": task("worker", 0)},
        "index_text": {"cluster": WORKERS, "task": task("worker", "1")},
        "every_role": {"cluster": every, "task": task("worker", 1)},
        "chief": {"cluster": every, "task": task("chief", 0)},
        "master": {"cluster": {"master": ["m:1"], **WORKERS}, "task": task("master", 0)},
        "evaluator_not_listed": {"cluster": WORKERS, "task": task("evaluator", 0)},
        "no_task": {"cluster": WORKERS},
        "index_too_large": {"cluster": WORKERS, "task": task("worker", 2)},
        "sparse": {"cluster": {"worker": {"1": "b:1"}, "ps": []}, "task": task("worker", 1)},
        "rpc_layer": {"cluster": WORKERS, "task": task("worker", 1), "rpc_layer": "grpc"},
        "environment": {"cluster": WORKERS, "task": task("worker", 1), "environment": "cloud"},
        "session_master": {"cluster": WORKERS, "task": task("worker", 0), "session_master": "x:1"},
        "bad_tasks": {"cluster": {"worker": "a:1"}, "task": task("worker", 0)},
        "bad_address": {"cluster": {"worker": [1]}, "task": task("worker", 0)},
        "index_true": {"cluster": WORKERS, "task": task("worker", True)},
        "index_fraction": {"cluster": WORKERS, "task": task("worker", 0.9)},
        "cluster_missing": {"task": task("worker", 0)},
    }.items():
        yield name, lambda config=config: read(config)
    both = {"cluster": WORKERS, "task": task("worker", 1), "rpc_layer": "grpc"}
    yield (
        "overridden",
        lambda: read(both, task_type="worker", task_id="0", rpc_layer="http", environment="here"),
    )
    yield "bad_json", lambda: _in({"TF_CONFIG": "{"}, lambda: make().cluster_spec())

    def ask(function: Any) -> Any:
        return _in({"TF_CONFIG": json.dumps(both)}, lambda: function(make()))

    yield "master_of_another", lambda: ask(lambda one: one.master("worker", 0))
    yield "master_layer", lambda: ask(lambda one: one.master("worker", 0, "http"))
    yield "master_of_none", lambda: ask(lambda one: one.master("ps", 0))
    yield "accelerators", lambda: ask(lambda one: dict(one.num_accelerators()))

    def changed(one: Any) -> dict:
        one.task_type, one.task_id, one.rpc_layer = "worker", 0, "http"
        return _described(one)

    yield "set", lambda: ask(changed)


@scenario("clusters.simple", GROUP, NONE)
def simple(s: Setting) -> Iterator[Case]:
    make, spec_of = s.tf.distribute.cluster_resolver.SimpleClusterResolver, s.tf.train.ClusterSpec
    workers = spec_of(WORKERS)
    yield "default", lambda: _described(make(workers))
    full = {
        "task_type": "worker",
        "task_id": 1,
        "rpc_layer": "grpc",
        "environment": "x",
        "master": "m",
    }
    yield "full", lambda: _described(make(workers, **full))
    yield "master_of_a_task", lambda: make(workers, rpc_layer="grpc").master("worker", 0)
    yield "master_layer", lambda: make(workers, master="m").master(rpc_layer="http")
    yield "master_of_half_a_task", lambda: make(workers, master="m").master("worker")
    yield (
        "accelerators",
        lambda: make(workers, num_accelerators={"GPU": 8}).num_accelerators("ps", 3),
    )
    yield "no_accelerators", lambda: make(workers).num_accelerators()
    yield "no_spec", lambda: make(WORKERS)
    yield "no_master", lambda: make(workers, master=None)

    class Own(s.tf.distribute.cluster_resolver.ClusterResolver):
        def __init__(self) -> None:
            self._task_type, self._task_id = "worker", 1

        def cluster_spec(self) -> Any:
            return workers

        def master(self, task_type: Any = None, task_id: Any = None, rpc_layer: Any = None) -> str:
            return "own"

    yield "class_of_ones_own", lambda: _described(Own())
    yield "accelerators_of_ones_own", lambda: dict(Own().num_accelerators())
    yield "abstract", lambda: s.tf.distribute.cluster_resolver.ClusterResolver()


@scenario("clusters.union", GROUP, NONE)
def union(s: Setting) -> Iterator[Case]:
    module, spec_of = s.tf.distribute.cluster_resolver, s.tf.train.ClusterSpec

    def one(cluster: dict, **arguments: Any) -> Any:
        return module.SimpleClusterResolver(spec_of(cluster), **arguments)

    make = module.UnionResolver
    first = one(
        WORKERS, task_type="worker", task_id=1, rpc_layer="grpc", environment="x", master="m"
    )
    second = one(
        {"worker": ["c:1"], "ps": ["p:1"]}, task_type="ps", task_id=0, num_accelerators={"GPU": 2}
    )
    yield "lists", lambda: _described(make(first, second))
    yield "other_order", lambda: _described(make(second, first))
    yield "one", lambda: _described(make(first))
    yield "overridden", lambda: _described(make(first, task_type="ps", task_id=2, rpc_layer="http"))
    yield "overridden_with_zero", lambda: make(first, task_id=0).task_id
    yield "dict_and_list", lambda: _described(make(one({"worker": {3: "d:1"}}), second))
    yield "conflict", lambda: make(one({"worker": {0: "d:1", 2: "e:1"}}), second).cluster_spec()
    yield "master_of_a_task", lambda: make(first, second).master("worker", 2)
    yield "master_layer", lambda: make(first, second).master("worker", 2, "http")
    yield (
        "accelerators",
        lambda: [make(second, first).num_accelerators(), make(first).num_accelerators()],
    )
    yield "none", lambda: make()
    yield "no_resolver", lambda: make(spec_of(WORKERS))

    def changed() -> dict:
        made = make(first, second)
        made.task_type, made.task_id, made.rpc_layer = "ps", 3, "http"
        return _described(made)

    yield "set", changed


@scenario("clusters.slurm", GROUP, NONE)
def slurm(s: Setting) -> Iterator[Case]:
    make = s.tf.distribute.cluster_resolver.SlurmClusterResolver

    def step(rank: int, tasks: int, nodes: str, per_node: str) -> dict[str, str]:
        return {
            "SLURM_PROCID": str(rank),
            "SLURM_STEP_NUM_TASKS": str(tasks),
            "SLURM_STEP_NODELIST": nodes,
            "SLURM_STEP_TASKS_PER_NODE": per_node,
            "CUDA_VISIBLE_DEVICES": "",
        }

    def read(environment: dict[str, str], **arguments: Any) -> Any:
        def described() -> dict:
            resolver = make(**arguments)
            before = resolver.get_task_info()
            found = _described(resolver)
            visible = os.environ.get("CUDA_VISIBLE_DEVICES")
            return {
                **found,
                **{"before": before, "after": resolver.get_task_info(), "visible": visible},
                "accelerators": resolver.num_accelerators(),
                "masters": [
                    resolver.master(job, 0, "http") for job in resolver.cluster_spec().jobs
                ],
            }

        return _in(environment, described)

    three = step(2, 3, "t02n[13,41],m5", "1(x3)")
    gpus = {"gpus_per_node": 2, "gpus_per_task": 1}
    yield "workers", lambda: read(step(1, 2, "t02n[13,41]", "1(x2)"), **gpus)
    jobs = {"ps": 1, "worker": 2}
    yield "jobs", lambda: read({**three, "SLURM_STEP_NODELIST": "n[1-3]"}, jobs=jobs, **gpus)
    yield (
        "several_on_a_node",
        lambda: read(
            step(3, 5, "n[1-3]", "2(x2),1"), port_base=9000, gpus_per_node=4, gpus_per_task=2
        ),
    )
    yield (
        "tasks_per_node",
        lambda: read(step(1, 4, "n[1-2]", "1(x2)"), tasks_per_node=2, gpus_per_node=2),
    )
    yield (
        "tasks_by_node",
        lambda: read(step(2, 3, "b,a", "1(x2)"), tasks_per_node={"b": 1, "a": 2}, gpus_per_node=2),
    )
    yield (
        "gpus_of_cuda_visible_devices",
        lambda: read({**step(0, 2, "n1", "2"), "CUDA_VISIBLE_DEVICES": "0,1,2,3"}),
    )
    yield (
        "gpus_left_alone",
        lambda: read(
            {**step(0, 2, "n1", "2"), "CUDA_VISIBLE_DEVICES": "0,1"},
            auto_set_gpu=False,
            rpc_layer=None,
        ),
    )
    yield "nodes_out_of_order", lambda: read({**three, "SLURM_STEP_NODELIST": "n[9-11]"}, **gpus)
    yield "no_gpus", lambda: read(step(1, 2, "n[1-2]", "1(x2)"), gpus_per_node=0)
    yield "too_many_gpus", lambda: read(three, gpus_per_node=1, gpus_per_task=2)
    yield "too_many_tasks", lambda: read(three, jobs={"worker": 4}, **gpus)
    yield "no_step", lambda: _in({}, lambda: make())
    yield "bad_nodes", lambda: read({**three, "SLURM_STEP_NODELIST": "n[1-"}, **gpus)
    yield "bad_tasks", lambda: read({**three, "SLURM_STEP_TASKS_PER_NODE": "1(x"}, **gpus)


@scenario("clusters.kubernetes", GROUP, NONE)
def kubernetes(s: Setting) -> Iterator[Case]:
    module = s.tf.distribute.cluster_resolver

    def pod(name: str, host: str, phase: str = "Running") -> Any:
        status = SimpleNamespace(host_ip=host, phase=phase)
        return SimpleNamespace(metadata=SimpleNamespace(name=name), status=status)

    pods = {
        "job-name=tensorflow": [pod("tensorflow-abc123", "10.1.2.3")],
        "job-name=a": [pod("a-1", "10.1.2.5"), pod("a-0", "10.1.2.4")],
        "job-name=b": [pod("b-0", "10.1.2.6")],
        "job-name=waits": [pod("waits-0", "", "Pending")],
    }

    class Client:
        def list_pod_for_all_namespaces(self, label_selector: str, **_: Any) -> Any:
            return SimpleNamespace(items=pods.get(label_selector, []))

    def make(*arguments: Any, **more: Any) -> Any:
        return module.KubernetesClusterResolver(*arguments, override_client=Client(), **more)

    two = {"worker": ["job-name=a", "job-name=b"], "ps": ["job-name=tensorflow"]}
    yield "default", lambda: _described(make())
    yield "jobs", lambda: _described(make(two, 1234))
    yield "no_pods", lambda: _described(make({"worker": ["job-name=none"]}))
    yield "a_pod_waits", lambda: make({"worker": ["job-name=waits"]}).cluster_spec()
    yield "master_of_a_task", lambda: make(two).master("worker", 2)
    yield "master_layer", lambda: make(two, rpc_layer=None).master("worker", 2, "http")

    def told() -> dict:
        made = make(two)
        made.task_type, made.task_id = "worker", 1
        return _described(made)

    yield "told_its_task", told
    where = module.KubernetesExecutableLocation
    yield "locations", lambda: [(one.name, one.value) for one in where]


@scenario("clusters.gce", GROUP, NONE)
def gce(s: Setting) -> Iterator[Case]:
    class Request:
        def __init__(self, response: Any, following: Any = None) -> None:
            self.execute = lambda: response
            self.following = following

    machines = {"m1": "10.0.0.3", "m2": "10.0.0.1", "m3": "10.0.0.2"}

    class Service:
        def instanceGroups(self) -> Any:
            return self

        def instances(self) -> Any:
            return self

        def listInstances(self, **_: Any) -> Any:
            items = [
                {"instance": f"https://x/projects/p/zones/z/instances/{name}"} for name in machines
            ]
            return Request({"items": items[:2]}, Request({"items": items[2:]}))

        def listInstances_next(self, previous_request: Any, previous_response: Any) -> Any:
            return previous_request.following

        def get(self, instance: str, **_: Any) -> Any:
            return Request({"networkInterfaces": [{"networkIP": machines[instance]}]})

    def make(**more: Any) -> Any:
        return s.tf.distribute.cluster_resolver.GCEClusterResolver(
            "p", "z", "g", 8470, credentials=None, service=Service(), **more
        )

    yield "default", lambda: _described(make())
    yield "task", lambda: _described(make(task_type="chief", task_id=2, rpc_layer=None))
    yield "master_of_a_task", lambda: make().master("worker", 1, "http")
    yield "accelerators", lambda: dict(make().num_accelerators())

    def changed(name: str, value: Any) -> dict:
        made = make()
        setattr(made, name, value)
        return _described(made)

    yield "set_task_id", lambda: changed("task_id", 1)
    yield "set_rpc_layer", lambda: changed("rpc_layer", "http")
    yield "set_task_type", lambda: changed("task_type", "chief")


@scenario("clusters.tpu", GROUP, NONE)
def tpu(s: Setting) -> Iterator[Case]:
    class Service:
        def __init__(self, **found: Any) -> None:
            self.found = found

        def projects(self) -> Any:
            return self

        locations = nodes = projects

        def get(self, name: str) -> Any:
            if name != "projects/p/locations/z/nodes/mine":
                raise KeyError(name)
            return self

        def execute(self) -> Any:
            return self.found

    make = s.tf.distribute.cluster_resolver.TPUClusterResolver

    def described(*arguments: Any, **more: Any) -> dict:
        made = make(*arguments, **more)
        leader = made.get_coordination_service_leader()
        return {
            **_described(made),
            "job": made.get_job_name(),
            "get_master": made.get_master(),
            "leader": leader,
        }

    ends = [{"ipAddress": "10.0.0.1", "port": "8470"}, {"ipAddress": "10.0.0.2", "port": 8471}]
    ready = Service(state="READY", networkEndpoints=ends)
    place = {"zone": "z", "project": "p"}
    yield "local", lambda: described("local")
    yield "local_accelerators", lambda: make("local").num_accelerators()
    yield "address", lambda: described("grpc://10.0.0.1:8470")
    yield (
        "addresses",
        lambda: described("grpc://10.0.0.1,grpc://10.0.0.2:8471", job_name="tpu_worker"),
    )
    yield "list", lambda: described(["grpc://10.0.0.1:8470"])
    for name in ("TPU_NAME", "KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS"):
        yield name, lambda name=name: _in({name: "grpc://10.0.0.3:8470"}, lambda: described(""))
    config = json.dumps({"tpu_node_name": "mine", "zone": "z", "project": "p"})
    yield "TPU_CONFIG", lambda: _in({"TPU_CONFIG": config}, lambda: described(service=ready))
    yield "name", lambda: described("mine", **place, service=ready)
    one = Service(state="READY", ipAddress="10.0.0.1", port="8470")
    yield "one_endpoint", lambda: described("mine", **place, service=one)
    yield (
        "coordinator",
        lambda: described(
            "grpc://10.0.0.1", coordinator_name="c", coordinator_address="10.0.0.9:1"
        ),
    )
    yield "master_of_a_task", lambda: make("mine", **place, service=ready).master("worker", 1)
    yield "nothing", lambda: _in({}, lambda: make())
    yield "no_list", lambda: make([])
    yield (
        "not_ready",
        lambda: make("mine", **place, service=Service(state="CREATING")).cluster_spec(),
    )
    yield "unknown", lambda: make("other", **place, service=ready).cluster_spec()
