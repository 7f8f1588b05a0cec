"""A workload leads to one boot source, preference and instancetype, or to an error with the choices."""

import re
from typing import Any

import pytest

from plugins.module_utils._boot_sources.workload import AvailableObjects, WorkloadRequest, resolve
from plugins.module_utils._resolver.api.keys import DEFAULT_LABEL
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.choose.rejected import Rejected
from plugins.plugin_utils._catalog_files import builtin_objects

LABEL = "instancetype.kubevirt.io/"


def instancetype(name: str, vcpus: int, memory: str, class_label: str = "", **spec: Any) -> dict[str, Any]:
    return {
        "kind": "VirtualMachineClusterInstancetype",
        "metadata": {"name": name, "labels": {f"{LABEL}class": class_label} if class_label else {}},
        "spec": {"cpu": {"guest": vcpus}, "memory": {"guest": memory}, **spec},
    }


def preference(name: str, tags: str = "", display_name: str = "", **required: Any) -> dict[str, Any]:
    annotations = {"tags": tags, "openshift.io/display-name": display_name}
    spec = {"requirements": required} if required else {}
    return {
        "kind": "VirtualMachineClusterPreference",
        "metadata": {"name": name, "annotations": annotations},
        "spec": spec,
    }


def data_source(path: str, **defaults: str) -> dict[str, Any]:
    namespace, name = path.split("/")
    labels = {f"{LABEL}default-{matcher_field.replace('_', '-')}": value for matcher_field, value in defaults.items()}
    return {"kind": "DataSource", "metadata": {"namespace": namespace, "name": name, "labels": labels}}


TYPES = [
    instancetype("u1.nano", 1, "512Mi", "general.purpose"),
    instancetype("u1.small", 1, "2Gi", "general.purpose"),
    instancetype("u1.medium", 1, "4Gi", "general.purpose"),
    instancetype("u1.large", 2, "8Gi", "general.purpose"),
    instancetype("d1.small", 1, "2Gi", "dedicated.vcpu", cpu={"guest": 1, "dedicatedCPUPlacement": True}),
]
PREFERENCES = (
    preference("fedora", memory={"guest": "2Gi"}),
    preference("rhel.8", "linux,rhel"),
    preference("rhel.9", "linux,rhel", "RHEL Nine"),
    preference("windows.11", "hidden,windows", cpu={"guest": 2}),
)
SOURCES = [
    data_source("golden/fedora", preference="fedora"),
    data_source("golden/rhel-next", preference="rhel.9", instancetype="u1.medium"),
    data_source("golden/eleven", preference="windows.11"),
]

MEDIUM = [
    instancetype("a.medium", 2, "4Gi", "general.purpose"),
    instancetype("b.medium", 2, "8Gi", "general.purpose"),
]
LARGE = [instancetype(f"m1.large{suffix}", 2, "16Gi", "memory.intensive") for suffix in ("", "1gi")]
UNLABELLED = [
    instancetype("web.small", 1, "2Gi"),
    instancetype("web.large", 4, "8Gi"),
    instancetype("db.small", 1, "8Gi"),
]


def choose(
    workload: str,
    sources: Any = None,
    types: Any = None,
    refused: Any = None,
    preferences: Any = PREFERENCES,
    **request: Any,
) -> dict[str, Any]:
    available = AvailableObjects([*preferences, *(TYPES if types is None else types)], sources, refused or {})
    return resolve(WorkloadRequest(workload, **request), available, NEWEST)


def answer(choice: dict[str, Any]) -> tuple[str, str, str]:
    boot = choice.get("boot", {"data_source": ""})
    return boot["data_source"], choice["preference"]["name"], choice["instancetype"]["name"]


@pytest.mark.parametrize(
    ("workload", "options", "expected"),
    [
        ("fedora", {}, ("golden/fedora", "fedora", "u1.small")),
        ("rhel.9", {}, ("golden/rhel-next", "rhel.9", "u1.medium")),
        ("rhel9", {}, ("golden/rhel-next", "rhel.9", "u1.medium")),
        ("RHEL nine", {}, ("golden/rhel-next", "rhel.9", "u1.medium")),
        ("rhel-next", {}, ("golden/rhel-next", "rhel.9", "u1.medium")),
        ("rhel9", {"cpu": 1}, ("golden/rhel-next", "rhel.9", "u1.nano")),
        ("rhel9", {"sources": [data_source("golden/rhel-9")]}, ("golden/rhel-9", "rhel.9", "u1.nano")),
        ("windows", {}, ("golden/eleven", "windows.11", "u1.large")),
        ("fedora", {"size": "medium"}, ("golden/fedora", "fedora", "u1.medium")),
        ("fedora", {"memory": "3Gi"}, ("golden/fedora", "fedora", "u1.medium")),
        ("fedora", {"performance": "dedicated"}, ("golden/fedora", "fedora", "d1.small")),
        ("fedora", {"performance": "dedicated.vcpu"}, ("golden/fedora", "fedora", "d1.small")),
        ("fedora", {"sources": None}, ("", "fedora", "u1.small")),
        ("fedora", {"sources": None, "types": UNLABELLED[:2]}, ("", "fedora", "web.small")),
        ("fedora", {"sources": None, "types": UNLABELLED, "performance": "db"}, ("", "fedora", "db.small")),
        ("fedora", {"sources": None, "types": LARGE, "size": "large1gi"}, ("", "fedora", "m1.large1gi")),
    ],
)
def test_workload_chooses_preference_source_and_instancetype(
    workload: str, options: dict[str, Any], expected: tuple[str, str, str]
) -> None:
    assert answer(choose(workload, **{"sources": SOURCES, **options})) == expected


def test_choice_has_reasons_and_alternatives() -> None:
    choice = choose("fedora", [*SOURCES, data_source("golden/rawhide", preference="fedora")])
    assert choice["reasons"] == [
        "preference fedora: has the name of the workload",
        "boot source golden/fedora: its default preference is fedora, and it has the name of the workload",
        "instancetype u1.small: is the smallest of the instancetypes of the class general.purpose that fedora can have",
    ]
    assert choice["others"]["boot"] == ["golden/rawhide"]
    assert choice["others"]["instancetype"] == ["u1.medium", "u1.large"]
    assert choice["rejected"] == {
        "u1.nano": "insufficient Memory resources of 512Mi provided by instance type, preference requires 2Gi"
    }


PREFER = f"or label the one to prefer {DEFAULT_LABEL}=true"
TOO_SMALL = "insufficient Memory resources of 512Mi provided by instance type, preference requires 2Gi"
GENERAL = "the instancetypes of the class general.purpose"


@pytest.mark.parametrize(
    ("workload", "options", "error"),
    [
        ("rhel", {}, f"workload: 'rhel' means several preferences: rhel.8, rhel.9; choose one, {PREFER}"),
        ("fedroa", {}, "workload: no preference and no DataSource is named 'fedroa'; did you mean fedora?"),
        (" -", {}, "workload: ' -' has no letter and no digit; write a name such as fedora"),
        (
            "linux",
            {"sources": [data_source("golden/linux", preference="suse")]},
            "workload: the default preference suse of the DataSource linux does not exist",
        ),
        (
            "rhel.8",
            {},
            "boot: no DataSource has the default preference rhel.8; there are golden/eleven (windows.11), golden/fedora"
            f" (fedora), golden/rhel-next (rhel.9); set boot, or label a DataSource {LABEL}default-preference",
        ),
        (
            "fedora",
            {"sources": [data_source(path, preference="fedora") for path in ("b/fedora", "a/fedora")]},
            f"boot: several DataSources would do: a/fedora, b/fedora; set boot.data_source to one, {PREFER}",
        ),
        (
            "fedora",
            {"sources": [data_source("golden/fedora", preference="fedora", instancetype="u9.none")]},
            "size: the default instancetype u9.none of the DataSource golden/fedora does not exist; set size",
        ),
        (
            "fedora",
            {"sources": [data_source("golden/fedora", preference="fedora", instancetype="u1.nano")]},
            f"size: fedora cannot have the default instancetype of the DataSource golden/fedora: u1.nano: {TOO_SMALL}",
        ),
        (
            "fedora",
            {"size": "huge"},
            "size: the class general.purpose has no size 'huge'; choose from nano, small, medium, large",
        ),
        ("fedora", {"size": "nano"}, f"size: fedora cannot have {GENERAL} and the size nano: u1.nano: {TOO_SMALL}"),
        (
            "fedora",
            {"cpu": 3},
            f"size: fedora cannot have {GENERAL} with at least 3 vCPUs: u1.small: has less than 3 vCPUs; u1.medium: has"
            " less than 3 vCPUs; u1.large: has less than 3 vCPUs",
        ),
        (
            "fedora",
            {"types": MEDIUM, "size": "medium"},
            f"size: 'medium' means several instancetypes: a.medium, b.medium; set instancetype to one, {PREFER}",
        ),
        (
            "fedora",
            {"types": LARGE},
            f"size: m1.large, m1.large1gi are equally small; name a size, set instancetype, {PREFER}",
        ),
        (
            "fedora",
            {"performance": "burstable"},
            "performance: no instancetype has the class 'burstable'; choose dedicated.vcpu, general.purpose",
        ),
        (
            "fedora",
            {"types": UNLABELLED},
            "performance: no instancetype has the class general.purpose; choose db, web, or label the instancetypes of"
            f" the one to prefer {DEFAULT_LABEL}=true",
        ),
        ("fedora", {"cpu": "many"}, "cpu: expected a whole number, found 'many'"),
        (
            "fedora",
            {"preferences": [{**preference("fedora"), "spec": {"requirements": {"memory": {"guest": "lots"}}}}]},
            "preference fedora: spec.requirements.memory.guest: ",
        ),
    ],
)
def test_error_lists_the_choices(workload: str, options: dict[str, Any], error: str) -> None:
    sources = None if "types" in options else SOURCES
    with pytest.raises(Rejected) as caught:
        choose(workload, **{"sources": sources, **options})
    assert str(caught.value).startswith(error)
    assert error.endswith(": ") or str(caught.value) == error


def test_default_label_settles_an_ambiguous_size() -> None:
    types = [instancetype(f"{series}.medium", 2, "4Gi", "general.purpose") for series in ("a", "b")]
    types[1]["metadata"]["labels"][DEFAULT_LABEL] = "true"
    for request in ({}, {"size": "medium"}):
        assert answer(choose("fedora", types=types, **request)) == ("", "fedora", "b.medium")
    types[0]["metadata"]["labels"][DEFAULT_LABEL] = "true"
    with pytest.raises(Rejected, match="means several instancetypes"):
        choose("fedora", types=types, size="medium")
    with pytest.raises(Rejected, match="equally small"):
        choose("fedora", types=types)


def labelled(manifest: dict[str, Any]) -> dict[str, Any]:
    labels = {**manifest["metadata"].get("labels", {}), DEFAULT_LABEL: "true"}
    return {**manifest, "metadata": {**manifest["metadata"], "labels": labels}}


@pytest.mark.parametrize(
    ("request_", "objects", "chosen"),
    [
        (
            {"workload": "os"},
            {"preferences": [preference("os.a", "os"), preference("os.b", "os")], "sources": None},
            ("", "os.b", "u1.nano"),
        ),
        (
            {"workload": "fedora"},
            {"sources": [data_source("a/fedora", preference="fedora"), data_source("b/fedora", preference="fedora")]},
            ("b/fedora", "fedora", "u1.small"),
        ),
        (
            {"workload": "fedora", "performance": "dedicated"},
            {"types": [instancetype("a.x", 1, "2Gi", "dedicated.a"), instancetype("b.x", 1, "4Gi", "dedicated.b")]},
            ("", "fedora", "b.x"),
        ),
        (
            {"workload": "fedora"},
            {"types": [instancetype("a.x", 1, "2Gi", "web"), instancetype("b.x", 1, "4Gi", "db")]},
            ("", "fedora", "b.x"),
        ),
    ],
)
def test_default_label_settles_what_else_is_ambiguous(
    request_: dict[str, Any], objects: dict[str, Any], chosen: tuple[str, str, str]
) -> None:
    with pytest.raises(Rejected, match=re.escape(f"to prefer {DEFAULT_LABEL}=true")):
        choose(**request_, **objects)
    last = {name: [*values[:-1], labelled(values[-1])] for name, values in objects.items() if values}
    assert answer(choose(**request_, **{**objects, **last})) == chosen


def test_refused_and_deprecated_instancetypes_are_not_chosen() -> None:
    refused = {("VirtualMachineClusterInstancetype", "u1.small"): "exceeded quota"}
    choice = choose("fedora", refused=refused)
    assert answer(choice) == ("", "fedora", "u1.medium")
    assert choice["rejected"]["u1.small"] == "exceeded quota"
    types = [instancetype("u1.small", 1, "2Gi", "general.purpose"), *TYPES[2:]]
    types[0]["metadata"]["labels"][f"{LABEL}deprecated"] = "true"
    assert answer(choose("fedora", types=types)) == ("", "fedora", "u1.medium")


@pytest.mark.parametrize("state", ["deprecated", "obsolete"])
def test_inactive_object_needs_default_or_exact_name(state: str) -> None:
    labels = {"instancetypes.virtshape.io/state": state}
    annotations = {"instancetypes.virtshape.io/replacement": "u1.large"}
    old = instancetype("u1.old", 1, "2Gi", "general.purpose")
    old["metadata"] |= {"labels": {**old["metadata"]["labels"], **labels}, "annotations": annotations}
    assert answer(choose("fedora", types=[old, TYPES[2]])) == ("", "fedora", "u1.medium")
    sources = [data_source("golden/fedora", preference="fedora", instancetype="u1.old")]
    choice = choose("fedora", sources, types=[old, TYPES[2]])
    assert answer(choice) == ("golden/fedora", "fedora", "u1.old")
    assert choice["reasons"][-1].endswith(f"of the DataSource golden/fedora; it is {state}; use u1.large")
    retired = preference("debian")
    retired["metadata"]["labels"] = labels
    available = AvailableObjects([retired, *TYPES])
    assert resolve(WorkloadRequest("debian"), available, NEWEST)["preference"]["name"] == "debian"
    with pytest.raises(Rejected, match="no preference and no DataSource is named 'Debian'"):
        resolve(WorkloadRequest("Debian"), available, NEWEST)


def test_cluster_wide_object_precedes_its_namespaced_namesake() -> None:
    types = [{**instancetype("u1.small", 8, "64Gi", "general.purpose"), "kind": "VirtualMachineInstancetype"}, *TYPES]
    for offered in (types, [*TYPES, types[0]]):
        choice = choose("fedora", types=offered)
        assert choice["instancetype"]["kind"] == "VirtualMachineClusterInstancetype"


def test_every_builtin_preference_is_a_workload() -> None:
    """Some need another class than the general one; none is ambiguous."""
    objects = builtin_objects(NEWEST)
    available = AvailableObjects(objects)
    for item in (item for item in objects if item["kind"].endswith("Preference")):
        name = item["metadata"]["name"]
        for spelled in (name, name.replace(".", "")):
            chosen = resolve(WorkloadRequest(spelled), available, NEWEST)["preference"]
            assert chosen == {"name": name, "kind": item["kind"]}
