"""Preflight and the check say of random VMs what the running KubeVirt says, whichever release it is.

The instancetypes and preferences of each example have names of their own, so no cache of KubeVirt has seen them.
VIRTSHAPE_TEST_VMS is how many VMs are asked for, about; HYPOTHESIS_PROFILE=random draws them anew.
"""

import itertools
import os
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st
from local_findings import errors, issues

from answers import ask
from plugins.module_utils._cluster.client.session import Session
from plugins.module_utils._cluster.reads.kubevirt import kubevirt
from plugins.module_utils._resolver.api.finding import ERROR
from plugins.module_utils._resolver.api.kinds import KINDS
from plugins.module_utils._resolver.api.matcher import MATCHER_FIELDS
from plugins.module_utils._resolver.declare import plan
from virt_api.answer import Answer
from vm_strategies import VMS, WORLDS

Manifest = dict[str, Any]

# VMs beside the same objects, since these take longer to make.
TOGETHER = 5
EXAMPLES = max(1, int(os.environ.get("VIRTSHAPE_TEST_VMS", "150")) // TOGETHER // 2)
SETTINGS = settings(
    max_examples=EXAMPLES,
    # To shrink an example would send requests for minutes.
    phases=(Phase.generate,),
    derandomize=os.environ.get("HYPOTHESIS_PROFILE", "ci") == "ci",
    deadline=None,
    suppress_health_check=list(HealthCheck),
    database=None,
)
# The names in the VMs, without "gone".
NAMES = ("size", "other", "guest", "claim", "volume", "os")
STORAGE = {"resources": {"requests": {"storage": "1Mi"}}}
SPECS: dict[str, Manifest] = {
    "PersistentVolumeClaim": {"accessModes": ["ReadWriteOnce"], **STORAGE},
    "DataVolume": {"source": {"blank": {}}, "storage": STORAGE},
}
# Preflight judges neither the machine types of an architecture nor the sources of disks.
OTHER_RULES = ("machine.type is not supported", "must be referenced in the VMI template's")
CRASHED = 500
GONE = '"gone" not found'
numbers = itertools.count()


@contextmanager
def made(
    world: list[Manifest], session: Session, namespace: str
) -> Iterator[tuple[list[Manifest], Callable[..., Any]]]:
    """The objects, as the server has them, and what gives a VM their names."""
    suffix = f"{uuid.uuid4().hex[:6]}-{next(numbers)}"

    def named(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: named(entry) for key, entry in value.items()}
        if isinstance(value, list):
            return [named(entry) for entry in value]
        return (
            f"{value}-{suffix}"
            if isinstance(value, str) and value in NAMES
            else namespace
            if value == "shop"
            else value
        )

    there = []
    try:
        for item in map(named, world):
            kind = KINDS[item["kind"]]
            spec = SPECS.get(kind.kind, item["spec"])
            if kind.kind == "DataSource":
                spec = {"source": {"pvc": {"name": named("claim"), "namespace": namespace}}}
            manifest = {**item, "apiVersion": kind.api_version, "spec": spec}
            there.append(
                session.request("POST", kind.path(item["metadata"].get("namespace")), retry=True, body=manifest)
            )
        yield there, named
    finally:
        for item in there:
            session.request(
                "DELETE", KINDS[item["kind"]].path(item["metadata"].get("namespace"), item["metadata"]["name"])
            )


@SETTINGS
@given(WORLDS, st.lists(VMS, min_size=TOGETHER, max_size=TOGETHER))
def test_new_vms_are_judged_as_the_server_does(
    session: Session, namespace: str, world: list[Manifest], vms: list[Manifest]
) -> None:
    with made(world, session, namespace) as (objects, named):
        for vm in map(named, vms):
            answer = ask(session, vm)
            result = [issue for issue in issues(vm, kubevirt(session), objects) if issue.severity == ERROR]
            compared(answer, [issue.line for issue in result], vm)
            matches = errors(vm, kubevirt(session), objects)
            if answer.stored is None:
                # An object that no file has may be in the cluster.
                assert matches or "not found" in answer.messages[0], (answer, vm)
            else:
                assert all(item.rule == "not-found" for item in matches), (matches, vm)


@SETTINGS
@given(WORLDS, VMS, st.lists(VMS, min_size=TOGETHER, max_size=TOGETHER))
def test_changed_vms_are_judged_as_the_server_does(
    session: Session, namespace: str, world: list[Manifest], first: Manifest, changes: list[Manifest]
) -> None:
    with made(world, session, namespace) as (objects, named):
        before = named(first)
        if ask(session, before).stored is None:
            event("refused at first")
            return
        before["metadata"]["name"] = f"web-{next(numbers)}"
        live = settled(
            session, session.request("POST", KINDS["VirtualMachine"].path(namespace), retry=True, body=before)
        )
        revisions = session.list(KINDS["ControllerRevision"], namespace)
        for vm in map(named, changes):
            vm["metadata"]["name"] = before["metadata"]["name"]
            planned = plan.present(vm, live, None)
            if planned.action == plan.NONE:
                continue
            result = issues(vm, kubevirt(session), [*objects, *revisions], live)
            answer = ask(session, plan.merged(planned, live), changes=True)
            compared(answer, [issue.line for issue in result if issue.severity == ERROR], vm)


def settled(session: Session, vm: Manifest) -> Manifest:
    """A VM once virt-controller has captured what it names, or said that it cannot."""
    metadata = vm["metadata"]
    for _unused in range(300):
        result = session.get(KINDS["VirtualMachine"], metadata["namespace"], metadata["name"])
        assert result is not None
        status = result.get("status") or {}
        failed = any(item["type"] == "Failure" for item in status.get("conditions") or ())
        captured = all(
            (result["spec"][matcher_field.name].get("revisionName"))
            or (status.get(matcher_field.reference) or {}).get("controllerRevisionRef")
            for matcher_field in MATCHER_FIELDS
            if result["spec"].get(matcher_field.name)
        )
        if status.get("printableStatus") and (failed or captured):
            return result
        time.sleep(0.1)
    raise AssertionError(f"{metadata['name']} does not settle: {result}")


def compared(answer: Answer, messages: list[str], vm: Manifest) -> None:
    if answer.stored is not None:
        event("accepted")
        # A VM whose instancetype is not there is stored by newer releases, and does not start.
        assert all(GONE in text for text in messages), (messages, vm)
    elif not any(other in answer.messages[0] for other in OTHER_RULES):
        event("refused")
        assert messages, (answer, vm)
        if answer.code == CRASHED:
            # Only that virt-api crashes can be said.
            return
        assert any(answer.says(text) or GONE in text for text in messages), (messages, answer, vm)
