"""A workload leads to one boot source, preference and instancetype, or to an error with the choices."""

import re
from typing import Any

import pytest

from plugins.module_utils._boot_sources.workload import (
    DEFAULT_LABEL,
    AvailableObjects,
    WorkloadRequest,
    resolve,
)
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.choose.fitting import Rejected
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
    ("request_", "expected"),
    [
        ({"workload": "fedora"}, ("golden/fedora", "fedora", "u1.small")),
        ({"workload": "rhel.9"}, ("golden/rhel-next", "rhel.9", "u1.medium")),
        ({"workload": "rhel9"}, ("golden/rhel-next", "rhel.9", "u1.medium")),
        ({"workload": "RHEL nine"}, ("golden/rhel-next", "rhel.9", "u1.medium")),
        ({"workload": "rhel-next"}, ("golden/rhel-next", "rhel.9", "u1.medium")),
        ({"workload": "rhel9", "cpu": 1}, ("golden/rhel-next", "rhel.9", "u1.nano")),
        ({"workload": "windows"}, ("golden/eleven", "windows.11", "u1.large")),
        ({"workload": "fedora", "size": "medium"}, ("golden/fedora", "fedora", "u1.medium")),
        ({"workload": "fedora", "memory": "3Gi"}, ("golden/fedora", "fedora", "u1.medium")),
        ({"workload": "fedora", "performance": "dedicated"}, ("golden/fedora", "fedora", "d1.small")),
        ({"workload": "fedora", "performance": "dedicated.vcpu"}, ("golden/fedora", "fedora", "d1.small")),
    ],
)
def test_workload_chooses_preference_source_and_instancetype(
    request_: dict[str, Any], expected: tuple[str, str, str]
) -> None:
    assert answer(choose(sources=SOURCES, **request_)) == expected


def test_no_boot_source_unless_data_sources_are_given() -> None:
    assert answer(choose("fedora")) == ("", "fedora", "u1.small")


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


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (
            {"workload": "rhel"},
            "workload: 'rhel' means several preferences: rhel.8, rhel.9; choose one, or label the one to prefer"
            " instancetypes.virtshape.io/default=true",
        ),
        (
            {"workload": "fedroa"},
            "workload: no preference and no DataSource is named 'fedroa'; did you mean fedora?",
        ),
        (
            {"workload": "rhel.8"},
            "boot: no DataSource has the default preference rhel.8; there are golden/eleven (windows.11), golden/fedora"
            " (fedora), golden/rhel-next (rhel.9); set boot, or label a DataSource"
            " instancetype.kubevirt.io/default-preference",
        ),
        (
            {"workload": "fedora", "size": "huge"},
            "size: the class general.purpose has no size 'huge'; choose from nano, small, medium, large",
        ),
        (
            {"workload": "fedora", "size": "nano"},
            "size: fedora cannot have the instancetypes of the class general.purpose and the size nano: u1.nano:"
            " insufficient Memory resources of 512Mi provided by instance type, preference requires 2Gi",
        ),
        (
            {"workload": "fedora", "cpu": 3},
            "size: fedora cannot have the instancetypes of the class general.purpose with at least 3 vCPUs: u1.small:"
            " has less than 3 vCPUs; u1.medium: has less than 3 vCPUs; u1.large: has less than 3 vCPUs",
        ),
        (
            {"workload": "fedora", "performance": "burstable"},
            "performance: no instancetype has the class 'burstable'; choose dedicated.vcpu, general.purpose",
        ),
        ({"workload": " -"}, "workload: ' -' has no letter and no digit; write a name such as fedora"),
        ({"workload": "fedora", "cpu": "many"}, "cpu: expected a whole number, found 'many'"),
    ],
)
def test_error_lists_the_choices(request_: dict[str, Any], error: str) -> None:
    with pytest.raises(Rejected) as caught:
        choose(sources=SOURCES, **request_)
    assert str(caught.value) == error


def test_several_boot_sources_are_ambiguous() -> None:
    sources = [data_source(path, preference="fedora") for path in ("a/fedora", "b/fedora")]
    with pytest.raises(
        Rejected, match=re.escape("boot: several DataSources would do: a/fedora, b/fedora; set boot.data_source")
    ):
        choose("fedora", sources)


def test_data_source_without_labels_by_its_name() -> None:
    assert answer(choose("rhel9", [data_source("golden/rhel-9")])) == ("golden/rhel-9", "rhel.9", "u1.nano")


def test_default_instancetype_must_exist_and_suit() -> None:
    for default, error in (("u9.none", "does not exist; set size"), ("u1.nano", "insufficient Memory resources")):
        with pytest.raises(Rejected, match=error):
            choose("fedora", [data_source("golden/fedora", preference="fedora", instancetype=default)])


def test_default_preference_must_exist() -> None:
    with pytest.raises(Rejected, match="the default preference suse of the DataSource linux does not exist"):
        choose("linux", [data_source("golden/linux", preference="suse")])


def test_equally_small_instancetypes_are_ambiguous() -> None:
    types = [instancetype(f"m1.large{suffix}", 2, "16Gi", "memory.intensive") for suffix in ("", "1gi")]
    with pytest.raises(Rejected, match=re.escape("size: m1.large, m1.large1gi are equally small")):
        choose("fedora", types=types)
    assert answer(choose("fedora", types=types, size="large1gi")) == ("", "fedora", "m1.large1gi")


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


def test_size_in_several_series_is_ambiguous() -> None:
    types = [
        instancetype(f"{series}.medium", 2, memory, "general.purpose")
        for series, memory in (("a", "4Gi"), ("b", "8Gi"))
    ]
    with pytest.raises(Rejected, match=re.escape("size: 'medium' means several instancetypes: a.medium, b.medium")):
        choose("fedora", types=types, size="medium")


def test_catalog_without_classes() -> None:
    types = [instancetype("web.small", 1, "2Gi"), instancetype("web.large", 4, "8Gi")]
    assert answer(choose("fedora", types=types)) == ("", "fedora", "web.small")
    types.append(instancetype("db.small", 1, "8Gi"))
    with pytest.raises(
        Rejected, match=re.escape("performance: no instancetype has the class general.purpose; choose db, web")
    ):
        choose("fedora", types=types)
    assert answer(choose("fedora", types=types, performance="db")) == ("", "fedora", "db.small")


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


def test_performance_of_several_classes_is_ambiguous() -> None:
    types = [instancetype("d1.small", 1, "2Gi", "dedicated.vcpu"), instancetype("e1.small", 1, "2Gi", "dedicated.node")]
    with pytest.raises(Rejected, match="performance: 'dedicated' means several classes"):
        choose("fedora", types=types, performance="dedicated")


def test_unreadable_preference_is_refused() -> None:
    unreadable = {**preference("fedora"), "spec": {"requirements": {"memory": {"guest": "lots"}}}}
    with pytest.raises(Rejected, match=re.escape("preference fedora: spec.requirements.memory.guest: ")):
        resolve(WorkloadRequest("fedora"), AvailableObjects([unreadable, *TYPES]), NEWEST)


def test_every_builtin_preference_is_a_workload() -> None:
    """Some need another class than the general one; none is ambiguous."""
    objects = builtin_objects(NEWEST)
    available = AvailableObjects(objects)
    for item in (item for item in objects if item["kind"].endswith("Preference")):
        name = item["metadata"]["name"]
        for spelled in (name, name.replace(".", "")):
            chosen = resolve(WorkloadRequest(spelled), available, NEWEST)["preference"]
            assert chosen == {"name": name, "kind": item["kind"]}
