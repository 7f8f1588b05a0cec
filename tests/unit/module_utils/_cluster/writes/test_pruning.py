"""Revisions that are deleted, and those that something still refers to."""

import copy
from typing import Any
from unittest import mock

import pytest
from captured_revisions import KUBEVIRT, Server, kept, named, vm

from plugins.module_utils._cluster.client.errors import RequestFailed
from plugins.module_utils._cluster.task import Task
from plugins.module_utils._cluster.writes import pruning
from plugins.module_utils._cluster.writes.pruning import prunable, prune
from plugins.module_utils._resolver.api.matcher import ObjectKey
from plugins.module_utils._resolver.api.write import delete
from plugins.module_utils._resolver.change.step import Job
from scripted_server import REVISIONS, Manifest, session_with, status

SNAPSHOTS = "/apis/snapshot.kubevirt.io/{}/namespaces/shop/{}"
CONTENTS, RESTORES = (
    SNAPSHOTS.format("v1beta1", name) for name in ("virtualmachinesnapshotcontents", "virtualmachinerestores")
)
OLD_CONTENTS = SNAPSHOTS.format("v1alpha1", "virtualmachinesnapshotcontents")
POOLS = "/apis/pool.kubevirt.io/v1beta1/namespaces/shop/virtualmachinepools"


class Namespace(Server):
    """The server, and what may be pruned of its namespace."""

    def prunable(self, keep: int = 0) -> list[str]:
        with session_with(self) as session:
            return [job.key.name for job in prunable(session, "shop", keep)]


def content(**spec: Any) -> Manifest:
    return {"metadata": {"name": "content"}, "spec": {"source": {"virtualMachine": {"spec": spec}}}}


def test_newest_and_used_revisions_are_kept() -> None:
    assert Namespace().prunable() == [named(1), named(2), named(3)]
    assert Namespace().prunable(keep=1) == [named(1), named(2)]


def test_revisions_are_listed_before_objects_using_them() -> None:
    server = Namespace()
    server.prunable()
    paths = [path for _method, path in server.asked]
    assert paths.index(REVISIONS) < min(index for index, path in enumerate(paths) if path != REVISIONS)


@pytest.mark.parametrize("path", [CONTENTS, OLD_CONTENTS])
def test_a_snapshot_holds_a_revision(path: str) -> None:
    # The first one's name begins like the tenth's.
    held = content(instancetype={"name": "big", "revisionName": named(1)})
    assert Namespace(**{path: [held]}).prunable() == [named(2), named(3)]


@pytest.mark.parametrize("version", ["v1beta1", "v1alpha1"])
def test_a_pool_holds_what_its_template_names(version: str) -> None:
    template = {"spec": {"instancetype": {"name": "big", "revisionName": named(1)}, "template": {"spec": {}}}}
    pool = {"metadata": {"name": "db", "namespace": "shop"}, "spec": {"virtualMachineTemplate": template}}
    path = f"/apis/pool.kubevirt.io/{version}/namespaces/shop/virtualmachinepools"
    assert Namespace(**{path: [pool]}).prunable() == [named(2), named(3)]


def test_snapshot_with_status_retains_revision() -> None:
    held = content()
    held["spec"]["source"]["virtualMachine"]["status"] = vm(2)["status"]
    assert Namespace(**{CONTENTS: [held]}).prunable() == [named(1), named(3)]


def restore(target: str, complete: bool, **spec: Any) -> Manifest:
    return {
        "metadata": {"name": "back"},
        "spec": {"target": {"kind": "VirtualMachine", "name": target}, **spec},
        "status": {"complete": complete},
    }


def test_restore_patch_keeps_its_revision() -> None:
    patch = f'{{"op": "replace", "path": "/spec/instancetype/revisionName", "value": "{named(2)}"}}'
    server = Namespace(**{RESTORES: [restore("other", complete=True, patches=[patch])]})
    assert server.prunable() == [named(1), named(3)]


def test_prune_skips_revisions_of_running_restores() -> None:
    ownerless = copy.deepcopy(kept(7, "new"))
    ownerless["metadata"]["ownerReferences"] = []
    everything = {
        REVISIONS: [kept(1), kept(10), kept(1, "web"), kept(2, "web"), ownerless],
        f"{KUBEVIRT}/virtualmachines": [vm(10), vm(2, "web")],
    }
    under_way = Namespace(**everything, **{RESTORES: [restore("web", complete=False)]})
    assert under_way.prunable() == [named(1)]
    done = Namespace(**everything, **{RESTORES: [restore("web", complete=True)]})
    assert sorted(done.prunable()) == sorted([named(1), named(1, "web"), named(7, "new")])


@pytest.mark.parametrize("path", [REVISIONS, f"{KUBEVIRT}/virtualmachines", POOLS, CONTENTS, RESTORES])
def test_unreadable_referrers_prevent_pruning(path: str) -> None:
    server = Namespace(**{CONTENTS: [], RESTORES: [], path: status(403, "forbidden", "Forbidden")})
    with pytest.raises(RequestFailed, match=rf'grant .*resources: \["{path.rpartition("/")[2]}"\], verbs: \["list"\]'):
        server.prunable()


def test_only_the_revisions_that_were_seen_are_deleted() -> None:
    """A VM that is created anew meanwhile gets others of the same names."""
    revision = kept(1)
    revision["metadata"]["uid"] = "first"
    server = Namespace(**{REVISIONS: [revision], f"{KUBEVIRT}/virtualmachines": []})
    with session_with(server) as session, mock.patch.object(pruning, "delete", wraps=delete) as deletion:
        prune(session, prunable(session, "shop", keep=0), Task(concurrency=1))
    assert [call.args for call in deletion.call_args_list] == [(f"{REVISIONS}/{named(1)}", "first")]


def test_failed_deletion_does_not_stop_the_others() -> None:
    server = Namespace()
    revisions = [Job(ObjectKey("ControllerRevision", "shop", name), "") for name in "abc"]
    refusals = {"a": status(403, "a is forbidden", "Forbidden"), "b": None}

    def answer(method: str, path: str, query: dict[str, str]) -> tuple[int, Any] | None:
        name = path.rpartition("/")[2]
        return refusals[name] if name in refusals else server(method, path, query)

    with session_with(answer) as session:
        prune(session, revisions, Task(concurrency=1))
    denied, cut, gone = (item.failed for item in revisions)
    assert str(denied).endswith('["controllerrevisions"], verbs: ["delete"]} in a Role of the namespace shop')
    assert str(cut).startswith("cannot reach the API server")
    assert (gone, server.asked) == (None, [("DELETE", f"{REVISIONS}/c")])
