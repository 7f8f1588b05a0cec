"""Replacements of deprecated and obsolete objects."""

from typing import Any

from plugins.module_utils._matrix.replacement import as_facts, replacements, unknown_replacements
from plugins.module_utils._resolver.catalog.definitions import expand_catalog

CATALOG: dict[str, Any] = {
    "series": {
        "m": {
            "sizes": {
                "small": {"cpu": 1, "memory": "1Gi"},
                "large": {"cpu": 4, "memory": "8Gi"},
                "old": {
                    "cpu": 4,
                    "memory": "4Gi",
                    "deprecated": {"replacement": "m.large", "obsolete_from": "2027-03-31"},
                },
                "same": {"cpu": 4, "memory": "8Gi", "obsolete": {"replacement": "m.large"}},
                "shrunk": {"cpu": 4, "memory": "4Gi", "deprecated": {"replacement": "m.small"}},
                "chain": {"cpu": 1, "memory": "1Gi", "deprecated": {"replacement": "m.old"}},
                "self": {"cpu": 1, "memory": "1Gi", "deprecated": {"replacement": "m.self"}},
                "lost": {"cpu": 1, "memory": "1Gi", "obsolete": {"replacement": "other"}},
                "plain": {"cpu": 1, "memory": "1Gi", "obsolete": {}},
            }
        }
    },
    "families": {
        "acme": {
            "preferences": {
                "acme.9": {
                    "requires": {"cpu": 2, "memory": "8Gi"},
                    "spec": {"devices": {"preferredDiskBus": "virtio"}},
                },
                "acme.8": {
                    "requires": {"memory": "1Gi"},
                    "spec": {"devices": {"preferredDiskBus": "scsi"}},
                    "deprecated": {"replacement": "acme.9"},
                },
                **{f"any.{number}": {"requires": {"cpu": 2}} for number in range(7)},
            }
        }
    },
}


def compared() -> dict[str, dict[str, Any]]:
    return {facts["name"]: facts for facts in map(as_facts, replacements(expand_catalog(CATALOG)))}


def test_fitting_replacement_shows_its_guest_changes() -> None:
    assert compared()["m.old"] == {
        "kind": "VirtualMachineClusterInstancetype",
        "namespace": "",
        "name": "m.old",
        "state": "deprecated",
        "replacement": "m.large",
        "obsolete_from": "2027-03-31",
        "problems": [],
        "changes": [{"field": "domain.memory.guest", "before": "4Gi", "after": "8Gi"}],
    }
    assert (compared()["m.same"]["problems"], compared()["m.same"]["changes"]) == ([], [])


def test_problems_of_replacements() -> None:
    problems = {name: facts["problems"] for name, facts in compared().items() if facts["problems"]}
    assert problems == {
        "m.shrunk": [
            "the replacement m.small does not fit the preferences any.0, any.1, any.2, any.3, any.4 and 2 more, which"
            " m.shrunk fits"
        ],
        "m.chain": ["the replacement m.old is itself deprecated (obsolete from 2027-03-31); use m.large"],
        "m.self": ["an object cannot replace itself; name another object"],
        "m.lost": ["the replacement other does not exist; add it, or name another object"],
        "acme.8": [
            "the replacement acme.9 does not fit the instancetypes m.small, m.old, m.shrunk, m.chain, m.self and 2"
            " more, which acme.8 fits"
        ],
    }
    assert compared()["m.plain"]["changes"] == []


def test_a_preference_changes_devices_and_no_size() -> None:
    assert [change["field"] for change in compared()["acme.8"]["changes"]] == ["domain.devices.disks"]


def test_replacement_may_already_exist_in_the_cluster() -> None:
    objects = expand_catalog(CATALOG)
    assert unknown_replacements(objects) == [("VirtualMachineClusterInstancetype", "", "other")]
    other = {**objects[0], "metadata": {"name": "other"}}
    assert {item.object["metadata"]["name"]: item.problems for item in replacements(objects, [other])}["m.lost"] == ()


def test_only_combinable_objects_are_compared() -> None:
    old, new, preference = (
        {"kind": kind, "metadata": metadata, "spec": spec}
        for kind, metadata, spec in (
            (
                "VirtualMachineInstancetype",
                {
                    "name": "old",
                    "namespace": "shop",
                    "labels": {"instancetypes.virtshape.io/state": "obsolete"},
                    "annotations": {"instancetypes.virtshape.io/replacement": "new"},
                },
                {"cpu": {"guest": 2}, "memory": {"guest": "1Gi"}},
            ),
            (
                "VirtualMachineInstancetype",
                {"name": "new", "namespace": "shop"},
                {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}},
            ),
            (
                "VirtualMachinePreference",
                {"name": "two", "namespace": "office"},
                {"requirements": {"cpu": {"guest": 2}}},
            ),
        )
    )
    assert replacements([old, new, preference])[0].problems == ()
    preference["metadata"]["namespace"] = "shop"
    assert len(replacements([old, new, preference])[0].problems) == 1


def test_unreadable_preference_is_not_compared() -> None:
    preference = {"kind": "VirtualMachineClusterPreference", "metadata": {"name": "acme"}, "spec": {"cpu": "x"}}
    old, *_rest = replacements([*expand_catalog({"series": CATALOG["series"]}), preference])
    assert not [problem for problem in as_facts(old)["problems"] if "acme" in problem]
