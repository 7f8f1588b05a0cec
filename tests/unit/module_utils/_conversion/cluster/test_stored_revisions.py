"""Revisions of older API versions that are stored anew."""

import copy
from typing import Any
from unittest import mock

import pytest
from captured_revisions import KUBEVIRT, Server, kept, vm

from plugins.module_utils._cluster.client.session import Session
from plugins.module_utils._cluster.reads.revisions import inspect
from plugins.module_utils._cluster.task import Task
from plugins.module_utils._conversion.cluster import migrate_revisions as module
from plugins.module_utils._conversion.cluster.migrate_revisions import migrate_revisions
from plugins.module_utils._resolver.api.write import delete
from plugins.module_utils._resolver.change.drift import Drift
from plugins.module_utils._resolver.kubevirt.instancetype import revision_names
from scripted_server import REVISIONS, session_with, status


def outcome(session: Session, seen: Drift, check_mode: bool = False) -> tuple[bool, str | None]:
    """Whether an upgrade changes anything, and why it fails."""
    (result,) = migrate_revisions(session, [seen], Task(check_mode=check_mode))
    return result.changed, result.failed


def old_revision() -> Server:
    """A VM that keeps a revision of an older version, as `old`."""
    old, machine = copy.deepcopy(kept(1)), vm(1)
    old["metadata"]["name"] = "old"
    del old["metadata"]["labels"][revision_names.VERSION_LABEL]
    machine["status"]["instancetypeRef"]["controllerRevisionRef"]["name"] = "old"
    server = Server(**{REVISIONS: [old], f"{KUBEVIRT}/virtualmachines": [machine]})
    server.lists[f"{KUBEVIRT}/virtualmachines/db"] = (200, machine)
    return server


def upgraded(server: Server, meanwhile: Any) -> tuple[bool, str | None]:
    """The outcome of an upgrade whose patch is refused, and after which the VM is found as `meanwhile`."""
    refused = status(422, "the server rejected our request", "Invalid")

    def answer(method: str, path: str, query: dict[str, str]) -> tuple[int, Any] | None:
        if method == "PATCH":
            server.lists[f"{KUBEVIRT}/virtualmachines/db"] = meanwhile
            server.lists[REVISIONS] = [kept(1)]
            return refused
        if path.endswith("/db") and meanwhile is None:
            return None
        return server(method, path, query)

    with session_with(answer) as session:
        [inspected] = inspect(session, "shop")
        return outcome(session, inspected)


def test_rejected_patch_counts_if_virt_controller_was_faster() -> None:
    server = old_revision()
    assert upgraded(server, (200, vm(1))) == (True, None)
    # A LIST for each such VM would read all revisions of the namespace each time.
    assert server.asked.count(("GET", REVISIONS)) == 1


@pytest.mark.parametrize("meanwhile", ["as before", "gone", "not to be seen"])
def test_other_rejected_patch_fails_with_server_message(meanwhile: str) -> None:
    server = old_revision()
    before = server.lists[f"{KUBEVIRT}/virtualmachines/db"]
    then = {"as before": before, "gone": status(404, "db not found", "NotFound"), "not to be seen": None}[meanwhile]
    assert upgraded(server, then) == (True, "the server rejected our request")


def test_lost_revision_cannot_be_stored_again() -> None:
    server = old_revision()
    server.lists[REVISIONS] = []
    with session_with(server) as session:
        [inspected] = inspect(session, "shop")
        changed, failed = outcome(session, inspected)
    assert (changed, failed) == (False, 'controllerrevisions.apps "old" not found')
    assert {method for method, _path in server.asked} == {"GET"}


def test_vms_of_a_namespace_share_its_revisions() -> None:
    server = Server(**{f"{KUBEVIRT}/virtualmachines": [vm(10), vm(10, "web")]})
    with session_with(server) as session:
        first, second = inspect(session, "shop")
    assert first.revisions is second.revisions
    assert (first.own_revisions, second.own_revisions) == (first.revisions, ())


@pytest.mark.parametrize("style", ["status", "spec"])
def test_upgrade_stores_revision_where_the_vm_refers(style: str) -> None:
    old, machine = copy.deepcopy(kept(1)), vm(1)
    old["metadata"]["name"] = "old"
    del old["metadata"]["labels"][revision_names.VERSION_LABEL]
    if style == "status":
        machine["status"]["instancetypeRef"]["controllerRevisionRef"]["name"] = "old"
    else:
        machine["status"] = {}
        machine["spec"]["instancetype"]["revisionName"] = "old"
    server = Server(**{REVISIONS: [old], f"{KUBEVIRT}/virtualmachines": [machine]})
    with session_with(server) as session:
        [inspected] = inspect(session, "shop")
        assert outcome(session, inspected, check_mode=True) == (True, None)
        assert {method for method, _path in server.asked} == {"GET"}
        assert outcome(session, inspected) == (True, None)
    patched = f"{KUBEVIRT}/virtualmachines/db" + ("/status" if style == "status" else "")
    assert [item for item in server.asked if item[0] != "GET"] == [
        ("POST", REVISIONS),
        ("PATCH", patched),
        ("DELETE", f"{REVISIONS}/old"),
    ]


def test_only_the_revision_that_was_seen_is_deleted() -> None:
    """A VM that is created anew meanwhile gets another of the same name."""
    server = old_revision()
    server.lists[REVISIONS][0]["metadata"]["uid"] = "first"
    with session_with(server) as session, mock.patch.object(module, "delete", wraps=delete) as deletion:
        [inspected] = inspect(session, "shop")
        outcome(session, inspected)
    assert [call.args for call in deletion.call_args_list] == [(f"{REVISIONS}/old", "first")]
