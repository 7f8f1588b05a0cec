"""The rule by which instancetypes fit, and their order."""

from itertools import permutations
from typing import Any

import pytest

from plugins.module_utils._resolver.api import release
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.choose.fitting import (
    Constraints,
    bytes_of,
    choose,
    count_of,
    fitting,
    rank,
    rejection_of_pair,
    series_of,
    size_of,
)
from plugins.module_utils._resolver.choose.rejected import Rejected


def instancetype(name: str, vcpus: int = 2, guest: str = "4Gi", **more: Any) -> dict[str, Any]:
    spec = {
        **more,
        "cpu": {"guest": vcpus, **more.get("cpu", {})},
        "memory": {"guest": guest, **more.get("memory", {})},
    }
    return {"metadata": {"name": name}, "spec": spec}


def names(manifests: Any, **constraints: Any) -> list[str]:
    return [manifest["metadata"]["name"] for manifest in fitting(manifests, Constraints(**constraints), NEWEST)]


def test_instancetypes_are_ordered_by_the_documented_rule() -> None:
    """Each differs from the one before in the one point that is next in the rule."""
    in_order = [
        instancetype("z.series", 8),
        instancetype("b", 1, "64Gi", gpus=[{"name": "gpu"}]),
        instancetype("c", 2, "3Gi", gpus=[{"name": "gpu"}]),
        instancetype("e", memory={"overcommitPercent": 50}),
        instancetype("f", memory={"hugepages": {}}),
        instancetype("d", cpu={"dedicatedCPUPlacement": True, "isolateEmulatorThread": False}, nodeSelector={"a": "b"}),
        instancetype("g", cpu={"dedicatedCPUPlacement": True}, nodeSelector={"a": "b"}),
    ]
    expected = ["z.series", "b", "c", "e", "f", "d", "g"]
    for some in permutations(in_order):
        assert names(some, series="z") == expected


def test_obsolete_is_never_chosen_deprecated_only_on_request() -> None:
    manifests = [
        {**instancetype("active"), "kind": "VirtualMachineInstancetype"},
        {**instancetype("old"), "kind": "VirtualMachineInstancetype"},
        {**instancetype("gone"), "kind": "VirtualMachineInstancetype"},
    ]
    manifests[1]["metadata"]["labels"] = {"instancetype.kubevirt.io/deprecated": "true"}
    manifests[2]["metadata"]["labels"] = {"instancetypes.virtshape.io/state": "obsolete"}
    chosen = [choose(manifests, deprecated=flag, release=NEWEST) for flag in (False, True)]
    names = [[item["metadata"]["name"] for item in items] for items in chosen]
    assert names == [["active"], ["active", "old"]]


def test_only_active_instancetypes_by_default() -> None:
    """Other kinds are ignored, wherever they are."""
    old = {**instancetype("old"), "kind": "VirtualMachineInstancetype"}
    old["metadata"]["labels"] = {"instancetype.kubevirt.io/deprecated": "true"}
    others = [{"kind": "VirtualMachinePreference", "metadata": {"name": "p"}}, {"kind": "Secret", "metadata": {}}]
    active = {**instancetype("active"), "kind": "VirtualMachineInstancetype"}
    assert choose([*others, old, active], release=NEWEST) == [active]


def test_preference_is_the_first_of_its_name() -> None:
    """Objects of other kinds may have the name, too."""

    def preference(name: str, vcpus: int) -> dict[str, Any]:
        spec = {"requirements": {"cpu": {"guest": vcpus}}}
        return {"kind": "VirtualMachineClusterPreference", "metadata": {"name": name}, "spec": spec}

    kind = "VirtualMachineInstancetype"
    small, large = {**instancetype("linux", 2), "kind": kind}, {**instancetype("large", 4), "kind": kind}
    secret = {"kind": "Secret", "metadata": {"name": "linux"}}
    manifests = [small, large, secret, preference("arch", 8), preference("linux", 4), preference("linux", 8)]
    assert choose(manifests, preference="linux", release=NEWEST) == [large]
    assert choose(manifests, preference="arch", release=NEWEST) == []


def test_labels_must_be_equal() -> None:
    labelled = {**instancetype("a"), "metadata": {"name": "a", "labels": {"team": "b"}}}
    assert [names([labelled], labels={"team": value}) for value in ("b", "a", "c")] == [["a"], [], []]


def test_other_series_come_by_size() -> None:
    types = [instancetype("a.x", 2), instancetype("z.x", 1), instancetype("m.x", 8)]
    assert names(types, series="m") == ["m.x", "z.x", "a.x"]


def test_no_constraints_take_everything() -> None:
    assert (Constraints().cpu, Constraints().memory) == (count_of(None), bytes_of(None)) == (0, 0)


def test_cpu_has_at_most_32_bits() -> None:
    assert count_of(str(2**32 - 1)) == 2**32 - 1
    for value in (2**32, 2**33):
        with pytest.raises(Rejected, match=f"^cpu: expected a whole number, found {value}$"):
            count_of(value)


def test_no_overcommit_equals_zero() -> None:
    assert rank(instancetype("a"), NEWEST) == rank(instancetype("b", memory={"overcommitPercent": 0}), NEWEST)


def test_equal_instancetypes_keep_their_order() -> None:
    first, second = instancetype("a"), {**instancetype("a"), "kind": "second"}
    assert fitting([second, first], Constraints(), NEWEST) == [second, first]
    assert [manifest.get("kind") for manifest in fitting([first, second], Constraints(), NEWEST)] == [None, "second"]


def test_less_overcommit_comes_first() -> None:
    assert names([instancetype("a", memory={"overcommitPercent": 10}), instancetype("b")]) == ["b", "a"]
    assert names([instancetype("a", memory={"overcommitPercent": 1}), instancetype("b")]) == ["b", "a"]


def test_limits_are_inclusive_and_exact() -> None:
    assert names([instancetype("a", 2, "4Gi")], cpu=2, memory=4 << 30) == ["a"]
    assert names([instancetype("a", 2, "4Gi")], cpu=3) == []
    assert names([instancetype("a", 2, "4Gi")], memory=(4 << 30) + 1) == []


@pytest.mark.parametrize(("vcpus", "fits"), [(2, False), (3, True), (4, False), (6, True)])
def test_a_spread_has_to_divide(vcpus: int, fits: bool) -> None:
    preference = {"cpu": {"preferredCPUTopology": "spread", "spreadOptions": {"ratio": 3}}}
    assert bool(names([instancetype("a", vcpus)], preference=preference)) == fits


def test_a_ratio_of_zero_fits_nothing() -> None:
    preference = {"cpu": {"preferredCPUTopology": "spread", "spreadOptions": {"ratio": 0}}}
    assert names([instancetype("a")], preference=preference) == []


def test_architecture_counts_only_with_a_vm() -> None:
    preference = {"requirements": {"architecture": "arm64"}}
    assert names([instancetype("a")], preference=preference) == ["a"]
    assert names([instancetype("a")], preference=preference, spec={"architecture": "amd64"}) == []


def test_invalid_instancetypes_fit_nothing() -> None:
    assert names([{"metadata": {"name": "a"}, "spec": {"cpu": 1}}, instancetype("b")]) == ["b"]


def test_series_is_the_name_before_the_dot() -> None:
    assert [series_of(name) for name in ("u1.small", "my.u1.small", "small")] == ["u1", "my.u1", ""]


@pytest.mark.parametrize(
    ("name", "labels", "expected"),
    [
        ("u1.nano", {}, "nano"),
        ("acme.web.small", {}, "small"),
        ("small", {}, "small"),
        ("web", {"instancetype.kubevirt.io/size": "medium"}, "medium"),
    ],
)
def test_size_comes_from_label_or_name(name: str, labels: dict[str, str], expected: str) -> None:
    assert size_of({"metadata": {"name": name, "labels": labels}}) == expected


# Instancetypes and preferences that do not go together.


def size(vcpus: Any) -> dict[str, Any]:
    return {"spec": {"cpu": {"guest": vcpus}, "memory": {"guest": "2Gi"}}}


@pytest.mark.parametrize(
    ("vcpus", "preference", "architecture", "expected"),
    [
        (2, {}, "", ""),
        (3, {"cpu": {"preferredCPUTopology": "spread"}}, "", "not divisible"),
        (2, {"requirements": {"cpu": {"guest": 4}}}, "", "4"),
        (2, {"requirements": {"architecture": "arm64"}}, "amd64", "arm64"),
        (2, {"requirements": {"architecture": "arm64"}}, "", ""),
        ("many", {}, "", "many"),
    ],
)
def test_rejection_of_pair_in_the_words_of_kubevirt(
    vcpus: Any, preference: dict[str, Any], architecture: str, expected: str
) -> None:
    answer = rejection_of_pair(size(vcpus), {"spec": preference}, architecture, release.NEWEST)
    assert expected in answer
    assert bool(answer) == bool(expected)
