"""catalog: limits, as the API server enforces them; see test_random_limits.py for what they say of VMs."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from waiting import wait_until

from modules_support import Task, warned
from plugins.module_utils._cluster.client.errors import ApiError
from plugins.module_utils._cluster.client.session import Session
from plugins.module_utils._governance.language import Limit
from plugins.module_utils._governance.policy import BINDING, POLICY, policies
from plugins.module_utils._resolver.api.kinds import KINDS, Kind

Manifest = dict[str, Any]

VM, VMI = KINDS["VirtualMachine"], KINDS["VirtualMachineInstance"]
REPLICAS = Kind("VirtualMachineInstanceReplicaSet", "kubevirt.io", "v1", "virtualmachineinstancereplicasets", True)


class Governed:
    """A catalog of two instancetypes, with limits for one namespace."""

    def __init__(self, task: Task, session: Session, namespace: str) -> None:
        self.task, self.session, self.namespace = task, session, namespace
        sizes = {"small": {"cpu": 1, "memory": "1Gi"}, "large": {"cpu": 4, "memory": "4Gi"}}
        definitions = [{"series": {namespace: {"sizes": sizes}}}]
        self.catalog = {"source": "definitions", "definitions": definitions, "catalog": namespace}
        self.small, self.large = f"{namespace}.small", f"{namespace}.large"

    def deploy(self, *limits: Manifest, refused: bool = False, **options: Any) -> Manifest:
        written = [{"name": self.namespace, "namespaces": [self.namespace], **limit} for limit in limits]
        task = self.task.refused if refused else self.task
        return task("catalog", **self.catalog, limits=written, **options)

    def declare(self, instancetype: str, refused: bool = False, **options: Any) -> Manifest:
        entry = {"name": "web", "instancetype": {"name": instancetype}, "run_strategy": "Halted", **options}
        volumes = [{"name": "root", "container_disk": "registry.example.com/disk:1"}]
        task = self.task.refused if refused else self.task
        return task("virtual_machine", volumes=volumes, **entry)

    def answer(self, kind: Kind, spec: Manifest, dry_run: bool = True) -> str:
        """The refusal of a new object by the API server, or ""."""
        manifest = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": "new"}, "spec": spec}
        try:
            self.session.request(
                "POST", kind.path(self.namespace), {"dryRun": "All"} if dry_run else None, manifest, final=(500,)
            )
        except ApiError as error:
            return error.message
        return ""


def template(domain: Manifest) -> Manifest:
    return {"template": {"spec": {"domain": domain}}}


@pytest.fixture
def governed(task: Task, session: Session, namespace: str) -> Iterator[Governed]:
    item = Governed(task, session, namespace)
    item.deploy()
    yield item
    item.deploy(state="absent", force=True)


def test_limits_are_declared_changed_and_pruned(governed: Governed) -> None:
    # Without a series, a limit permits what other tests deploy meanwhile, and changes with it.
    limit = {"max_cpu": 2, "series": [governed.namespace]}
    foreseen = governed.deploy(limit, check=True)
    done = governed.deploy(limit)
    for result in (foreseen, done):
        assert [(item["kind"], item["action"]) for item in result["limits"]] == [
            (POLICY, "create"),
            (BINDING, "create"),
        ]
    assert foreseen["msg"].endswith("; 1 limit: would be 1 created")
    assert done["msg"].endswith("; 1 limit: 1 created")
    again = governed.deploy(limit)
    assert (again["changed"], again["diff"]) == (False, [])
    # The binding has only what becomes of a violation.
    for changed, count in (({"except_namespaces": ["x"]}, 1), ({}, 1), ({"action": "warn"}, 2)):
        done = governed.deploy({**limit, **changed})
        assert [item["action"] for item in done["limits"]].count("apply") == count, (changed, done)
        second = governed.deploy({**limit, **changed})
        assert (second["changed"], second["diff"]) == (False, []), changed
    unasked = governed.task("catalog", **governed.catalog)
    assert (unasked["changed"], unasked["limits"]) == (False, [])
    gone = governed.deploy()
    assert [item["action"] for item in gone["limits"]] == ["delete", "delete"]


def test_limit_permits_new_instancetypes_of_the_cluster(governed: Governed) -> None:
    governed.deploy({"max_cpu": 2})
    new = {"name": f"{governed.namespace}-new", "namespace": None, "kind": "VirtualMachineClusterInstancetype"}
    governed.task("instancetype", **new, cpu={"guest": 1}, memory={"guest": "1Gi"})
    try:
        [policy, binding] = governed.deploy({"max_cpu": 2})["limits"]
        assert (policy["action"], binding["action"]) == ("apply", "none")
    finally:
        governed.task("instancetype", **new, state="absent", force=True)


def test_violation_is_reported_by_preflight_and_server(governed: Governed) -> None:
    governed.deploy({"max_cpu": 2})
    text = f"spec.instancetype.name: {governed.large} is not permitted here; choose from "
    for options in ({}, {"check": True}, {"preflight": "off"}, {"preflight": "off", "check": True}):
        refused = governed.declare(governed.large, refused=True, **options)
        assert text in refused["msg"], refused
        assert ("denied request" in refused["msg"]) == ("preflight" in options)
    governed.declare(governed.small)
    assert text in governed.declare(governed.large, refused=True)["msg"]


def test_a_warning_is_a_warning(governed: Governed) -> None:
    governed.deploy({"max_cpu": 2, "action": "warn"})
    assert any("is not permitted here" in text for text in warned(governed.declare(governed.large)))


def test_without_reading_limits_the_server_refuses(governed: Governed, user_with: Callable[..., Manifest]) -> None:
    verbs = ["get", "list", "create", "patch"]
    rule = {"apiGroups": ["kubevirt.io"], "resources": ["virtualmachines"], "verbs": verbs}
    tenant = user_with(rule)
    governed.deploy({"max_cpu": 2})
    refused = governed.declare(governed.large, refused=True, **tenant)
    assert "\n" not in refused["msg"]
    assert f"{governed.large} is not permitted here" in refused["msg"] and "denied request" in refused["msg"]


def test_existing_vms_keep_working_under_new_limits(governed: Governed) -> None:
    governed.declare(governed.large, run_strategy="Always", wait=True)
    governed.deploy({"max_cpu": 2, "require": ["instancetype", "preference"], "gpus": False})
    for state in ("restarted", "stopped", "started"):
        governed.task("virtual_machine_power", name="web", wait=True, state=state)
    assert governed.declare(governed.large, run_strategy="Always", labels={"tier": "web"}, wait=True)["changed"]
    patch = {"metadata": {"finalizers": ["example.com/a"]}}
    path = VM.path(governed.namespace, "web")
    for body in (patch, {"metadata": {"finalizers": None}}):
        governed.session.request("PATCH", path, None, body, content_type="application/merge-patch+json")
    assert governed.task("virtual_machine", name="web", state="absent", wait=True)["changed"]


def test_vmis_and_replica_sets_are_limited_too(governed: Governed) -> None:
    governed.deploy({"max_cpu": 2})
    large = {"domain": {"devices": {}, "cpu": {"cores": 4}, "memory": {"guest": "1Gi"}}}
    assert "4 x 1" in governed.answer(VMI, large) or "x 4 x" in governed.answer(VMI, large)
    spec = {
        "replicas": 1,
        "selector": {"matchLabels": {"app": "a"}},
        "template": {"metadata": {"labels": {"app": "a"}}, "spec": large},
    }
    assert governed.answer(REPLICAS, spec, dry_run=False) == ""

    def refused() -> bool:
        live = governed.session.get(REPLICAS, governed.namespace, "new") or {}
        conditions = (live.get("status") or {}).get("conditions") or []
        return any("denied request" in (item.get("message") or "") for item in conditions)

    wait_until(refused)


def test_the_next_task_is_judged_by_new_limits(governed: Governed) -> None:
    size = {"devices": {}, "memory": {"guest": "1Gi"}}
    four, two = ({"runStrategy": "Halted", **template({**size, "cpu": {"cores": cores}})} for cores in (4, 2))

    def judged() -> tuple[bool, bool, bool]:
        """Whether four and two CPUs are refused, and whether four are warned of."""
        asking = governed.session.dry_run_session()
        asking.warnings = {}
        governed.session = asking
        refusals = ["denied request" in governed.answer(VM, spec) for spec in (two, four)]
        return refusals[1], refusals[0], any("are more than" in text for text in asking.warnings)

    # Without a series, a limit changes with what other tests deploy meanwhile.
    limit = {"max_cpu": 2, "series": [governed.namespace]}
    here = {**limit, "namespaces": None, "namespace_labels": {"kubernetes.io/metadata.name": governed.namespace}}
    for limits, expected in (
        ([limit], (True, False, False)),
        ([{**limit, "max_cpu": 1}], (True, True, False)),
        ([{**limit, "action": "warn"}], (False, False, True)),
        ([{**limit, "action": "audit"}], (False, False, False)),
        ([limit], (True, False, False)),
        # Everywhere else, it would refuse the VMs of other tests.
        ([{**here, "except_namespaces": [governed.namespace]}], (False, False, False)),
        ([limit], (True, False, False)),
        ([{**limit, "namespaces": ["no-such"]}], (False, False, False)),
        ([here], (True, False, False)),
        ([], (False, False, False)),
    ):
        done = governed.deploy(*limits)
        assert (done["changed"], judged(), warned(done)) == (True, expected, []), limits
        again = governed.deploy(*limits)
        assert (again["changed"], warned(again)) == (False, [])


def test_foreign_policy_is_left_alone(governed: Governed) -> None:
    limit = Limit(governed.namespace, [governed.namespace], gpus=False)
    kind = KINDS[POLICY]
    [policy, _binding] = policies(limit, "other", "x")
    governed.session.request("POST", kind.path(), None, policy)
    try:
        refused = governed.deploy({"max_cpu": 2}, refused=True)
        assert "which does not belong to the catalog" in refused["msg"], refused
        assert not governed.deploy()["limits"]
    finally:
        with contextlib.suppress(ApiError):
            governed.session.request("DELETE", kind.path(None, policy["metadata"]["name"]))


def test_bad_limits_send_nothing(governed: Governed) -> None:
    refused = governed.deploy({"series": ["no-such"]}, refused=True)
    assert "series: nothing in the catalog matches 'no-such'" in refused["msg"]
    refused = governed.deploy({"max_cpu": 2}, refused=True, namespaces=[governed.namespace])
    assert refused["msg"].startswith("limits: valid for cluster-wide objects only")


def test_kubernetes_finds_nothing_wrong_with_the_types(governed: Governed) -> None:
    limit = {"max_cpu": 2, "max_memory": "2Gi", "gpus": False, "host_devices": False, "series": [governed.namespace]}
    governed.deploy({**limit, "require": ["instancetype", "preference"]})
    kind = KINDS[POLICY]

    def status() -> Manifest:
        live = governed.session.get(kind, None, f"{governed.namespace}.limits.instancetypes.virtshape.io") or {}
        result: Manifest = live.get("status") or {}
        return result

    wait_until(lambda: "typeChecking" in status())
    assert not status()["typeChecking"].get("expressionWarnings")
