"""What the cluster keeps of deleted VMs, also for someone who may not read claims."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.act.deletion import kept, remains
from scripted_server import listed, session_with, status

CLAIMS = "/api/v1/namespaces/shop/persistentvolumeclaims"
VOLUMES = "/apis/cdi.kubevirt.io/v1beta1/namespaces/shop/datavolumes"
REVISIONS = "/apis/apps/v1/namespaces/shop/controllerrevisions"


def vm(*volumes: dict[str, Any]) -> dict[str, Any]:
    return {
        "metadata": {"name": "a", "namespace": "shop", "uid": "1"},
        "spec": {"dataVolumeTemplates": [{"metadata": {"name": "own"}}], "template": {"spec": {"volumes": volumes}}},
    }


VM = vm(
    {"name": "a", "dataVolume": {"name": "own"}},
    {"name": "b", "persistentVolumeClaim": {"claimName": "foreign"}},
    {"name": "c", "persistentVolumeClaim": {"claimName": "taken-over"}},
)


def owned(name: str, *owners: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "uid": f"uid-{name}", "ownerReferences": [{"uid": owner} for owner in owners]}}


def names(claims: Any, volumes: Any) -> list[str]:
    """The kept claims where these are what there is, or how the server refuses to tell."""

    def answer(_method: str, path: str, _query: dict[str, str]) -> tuple[int, Any]:
        found = claims if path.startswith(CLAIMS) else volumes
        if isinstance(found, tuple):
            return found
        if path in (CLAIMS, VOLUMES):
            return 200, listed(*found.values())
        name = path.rpartition("/")[2]
        return (200, found[name]) if name in found else status(404, "not found", "NotFound")

    with session_with(answer) as session:
        told = kept(session, [VM])
    assert {one["kind"] for one in told[0]} <= {"PersistentVolumeClaim"}
    return [one["name"] for one in told[0]]


FORBIDDEN = status(403, "forbidden", "Forbidden")


@pytest.mark.parametrize(
    ("claims", "volumes", "expected"),
    [
        (
            {"own": owned("own", "uid-own"), "foreign": owned("foreign"), "taken-over": owned("taken-over", "1")},
            {"own": owned("own", "1")},
            ["foreign"],
        ),
        # A DataVolume of the template's name that somebody had made before.
        ({"own": owned("own", "uid-own"), "foreign": owned("foreign")}, {"own": owned("own")}, ["own", "foreign"]),
        ({}, {}, []),
        (FORBIDDEN, FORBIDDEN, ["foreign", "taken-over"]),
        ({"own": owned("own", "uid-own"), "foreign": owned("foreign")}, FORBIDDEN, ["foreign"]),
    ],
)
def test_what_is_kept(claims: Any, volumes: Any, expected: list[str]) -> None:
    assert names(claims, volumes) == expected


def test_what_does_not_go_is_a_failure_that_names_it() -> None:
    def answer(_method: str, path: str, query: dict[str, str]) -> tuple[int, Any]:
        if "watch" in query:
            return 200, []
        items = [owned("a-small-1", "1"), owned("other", "2")] if path == REVISIONS else []
        return 200, listed(*items)

    with session_with(answer) as session:
        told = remains(session, "shop", [VM], 0)
    assert list(told) == ["a"]
    assert told["a"].startswith(
        "ControllerRevision a-small-1: not ready after 0 s, waiting for the object to disappear"
    )


def test_what_cannot_be_seen_to_go_fails_each_vm_and_keeps_what_is_known_of_others() -> None:
    def answer(_method: str, path: str, query: dict[str, str]) -> tuple[int, Any]:
        if path == REVISIONS:
            return FORBIDDEN
        return 200, [] if "watch" in query else listed(owned("a", "1"))

    other = {"metadata": {"name": "b", "namespace": "shop", "uid": "2"}}
    with session_with(answer) as session:
        told = remains(session, "shop", [VM, other], 0)
    assert told["a"].startswith("VirtualMachineInstance a: not ready after 0 s")
    assert told["b"].endswith('resources: ["controllerrevisions"], verbs: ["list"]}')


def test_what_is_gone_in_time_is_no_failure() -> None:
    def answer(_method: str, path: str, query: dict[str, str]) -> tuple[int, Any]:
        if "watch" in query:
            return 200, [{"type": "DELETED", "object": owned("a-small-1", "1")}]
        return 200, listed(*([owned("a-small-1", "1")] if path == REVISIONS else []))

    with session_with(answer) as session:
        assert remains(session, "shop", [VM], 60) == {}
