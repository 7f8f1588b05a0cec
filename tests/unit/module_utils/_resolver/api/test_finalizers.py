"""Finalizers that hold the deletion of an object."""

from typing import Any

from plugins.module_utils._resolver.api.finalizers import holders

KEEP = "backup.example.com/keep"
END = "if there is no such tool, remove it yourself"


def held(*finalizers: str, fields: Any = None, **metadata: Any) -> list[str]:
    managed = [{"manager": "backup", "operation": "Update", "fieldsV1": fields}] if fields else []
    deletion = {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": list(finalizers), "managedFields": managed}
    return holders({"metadata": {**deletion, **metadata}})


def test_objects_that_stay_are_not_held() -> None:
    assert held(KEEP, deletionTimestamp=None) == []
    assert holders({}) == held() == []


def test_the_tool_of_a_finalizer_is_named() -> None:
    assert held(KEEP, "own") == [
        f"the finalizer {KEEP} holds it until the tool of backup.example.com removes it; {END}",
        f"the finalizer own holds it until its tool removes it; {END}",
    ]
    for fields, by in (
        ({"f:metadata": {"f:finalizers": {f'v:"{KEEP}"': {}}}}, ", set by backup,"),
        ({"f:spec": {}}, ""),
    ):
        (text,) = held(KEEP, fields=fields)
        assert text.startswith(f"the finalizer {KEEP}{by} holds it until the tool")


def test_known_finalizers_say_what_ends_the_hold() -> None:
    assert held("kubernetes.io/pvc-protection") == [
        "the finalizer kubernetes.io/pvc-protection holds it until no pod uses the claim"
    ]
