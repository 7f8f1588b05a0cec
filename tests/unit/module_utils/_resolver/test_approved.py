"""Pages, pictures and tables as a whole are as they were when somebody looked at them."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.errors import AnsibleFilterError
from loaded_filters import FILTERS

import approved
from fleet_samples import DAYS, LABEL, captured, entry, part, vm
from plugins.module_utils._matrix.matrix import as_data, compatibility_matrix
from plugins.module_utils._resolver.catalog.definitions import expand_catalog
from plugins.plugin_utils._filter_functions.conversion import modernize
from plugins.plugin_utils._filter_functions.fleet import fleet, page
from plugins.plugin_utils._reports.catalog_matrix import html, markdown, svg

TESTS = Path(__file__).parents[3]
NOW = "2026-03-01T08:00:00Z"

# A spread that does not go up, preferences that need both, one of them, or nothing.
CATALOG: dict[str, Any] = {
    "series": {
        "small": {
            "icon": "pficon-server",
            "docs_url": "https://example.com/sizes?a=1&b=2",
            "sizes": {
                "one": {"cpu": 1, "memory": "512Mi"},
                "three": {"cpu": 3, "memory": "8Gi"},
            },
        },
        "large": {"sizes": {"four": {"cpu": 4, "memory": "6Gi", "hugepages": "1Gi"}}},
    },
    "families": {
        "linux": {
            "os": "linux",
            "preferences": {
                "any": {},
                "large": {"requires": {"cpu": 2, "memory": "4.5Gi"}},
                "cores": {"requires": {"cpu": 4}},
                "spread": {"spec": {"cpu": {"preferredCPUTopology": "spread"}}},
            },
        },
        "win": {
            "os": "windows",
            "icon": "icon-windows",
            "tags": ["hidden", "windows"],
            "docs_url": "javascript:alert(1)",
            "support_url": "https://example.com/support",
            "preferences": {"memory": {"requires": {"memory": "512Mi"}}},
        },
    },
}


def a_fleet() -> dict[str, Any]:
    """VMs in every state that the page tells of: the arguments of the filter."""
    stopped = vm("stopped", size="u1.large", status="Stopped", run_strategy="Halted")
    ended = vm("ended", size="u1.medium", status="Succeeded")
    ended["vmi"]["phase"] = "Succeeded"
    del stopped["vmi"]
    bare = vm("bare", "office", instancetype=None, preference=None, resources={}, status="")
    pinned = vm("pinned", "office", instancetype=part("VirtualMachineInstancetype", "own", pinned=True))
    pinned["instancetype"].update(generation=3, current_generation=5, captured_at="")
    old = vm("old", size="m1.8xlarge", state="drifted", vmi={"phase": "Running", "guest": {"memory": "much"}})
    old["preference"] = part(f"{LABEL}Preference", "fedora", "drifted", changed_at=DAYS[3])
    drifted = {
        name: vm(name, state="drifted") for name in ("web-0", "web-1", "web-2", "web-3", "web-4", "web-5", "web-6")
    }
    for name, day in zip(drifted, [*DAYS, "", "long ago"]):
        drifted[name]["instancetype"]["changed_at"] = day
    cores = [{"field": "domain.cpu.sockets", "before": None, "after": 2}]
    claim = {"state": "broken", "link": "claim", "problem": "the claim data does not exist"}
    deprecated = {"object_state": "deprecated", "replacement": "u2.large"}
    late, soon = ({**deprecated, "obsolete_from": day} for day in ("2027-09-30", "2027-03-31"))
    retired = [
        ("a", "shop", "u1.late", late),
        ("b", "shop", "u1.soon", soon),
        ("c", "office", "u1.soon", soon),
        ("d", "shop", "u1.gone", {"object_state": "obsolete"}),
        ("e", "shop", "u1.soon", soon),
        ("f", "shop", "u1.some", deprecated),
        ("g", "shop", "u2.large", {"object_state": "active"}),
    ]
    return {
        "value": [
            stopped,
            ended,
            bare,
            pinned,
            old,
            *drifted.values(),
            vm("restarting", "office", restart_required=True, labels={"team": "web", "owner": "x"}),
            *(vm(f"waits-{number}", restart_required=True, restart_reason="other <CPU>") for number in range(6)),
            vm("calm", restart_reason="none needed", labels={"team": "web"}),
            vm("saved", revisions_lost_by=["backup"]),
            vm("lost", revisions_lost_by=["backup", "snapshot"]),
            vm("runs", diagnosis={"state": "running"}),
            vm("no-quota", diagnosis={**claim, "link": "quota"}),
            *(vm(f"no-claim-{number}", diagnosis=claim) for number in range(2)),
            *(
                vm(name, namespace, instancetype=part(f"{LABEL}Instancetype", size, **state))
                for name, namespace, size, state in retired
            ),
            vm("broken", problem="ControllerRevision <gone> not found", status="ErrorUnschedulable"),
            vm("unread", instancetype=part(f"{LABEL}Instancetype", "u1.small", "unknown")),
        ],
        "revisions": [
            *(captured(name) for name in drifted),
            captured(
                "old",
                changes=[*cores, {"field": "domain.cpu.model", "before": "<a>", "after": None}],
                needs="live_update",
            ),
            captured("web-4", needs="<patience>"),
            captured("web-5", changes=[], needs="nothing"),
            captured("web-6", refusal="spec.template.spec.domain.cpu conflicts with <selected> instance type"),
            captured("restarting", "office", drifted=False),
            # It is not among the VMs: it does not match the selectors.
            captured("hidden"),
        ],
        "unreferenced": [
            {"namespace": "shop", "name": "lost-1", "virtual_machine": "gone", "captured_at": DAYS[3]},
            {"namespace": "shop", "name": "lost-2", "virtual_machine": "", "captured_at": ""},
            {"namespace": "shop", "name": "old-1", "virtual_machine": "web-0", "captured_at": DAYS[3]},
            {"namespace": "shop", "name": "old-2", "virtual_machine": "hidden", "captured_at": DAYS[3]},
            {"namespace": "office", "name": "old-3", "virtual_machine": "web-1", "captured_at": DAYS[3]},
        ],
        "instancetypes": [
            entry("u1.small", used_by=["shop/web-0"]),
            entry("u1.large", deprecated=True, used_by=[f"shop/vm-{number}" for number in range(8)]),
            entry("own", kind="VirtualMachineInstancetype", namespace="office", catalog="", catalog_version=""),
            entry("unread", deprecated=True, used_by=None),
        ],
        "preferences": [entry("windows.<11>", kind=f"{LABEL}Preference")],
        "capacity": [
            {"name": "u1.small", "fits": True, "node_count": 3, "cluster_node_count": 4, "additional_vms": 1200},
            {
                "name": "gn1.<x>",
                "fits": False,
                "node_count": 0,
                "cluster_node_count": 4,
                "additional_vms": 0,
                "problem": "0 of 4 nodes have <gpu>",
            },
        ],
        "now": NOW,
    }


def read(name: str) -> list[dict[str, Any]]:
    result: list[dict[str, Any]] = yaml.safe_load((approved.FOLDER / name).read_text(encoding="utf-8"))
    return result


# Read once and not in the tests: PyYAML takes longer than what is tested.
OLD = read("modernize_input.yml")
OBJECTS = read("filters_input.yml")


def shown(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def test_a_fleet_in_figures() -> None:
    approved.check("fleet.json", shown(fleet(**a_fleet())))


def test_a_fleet_as_a_page() -> None:
    shown = page(fleet(**a_fleet()), "fleet", "Fleet & <more>", "namespaces shop and <office>", rows=30)
    approved.check_page("fleet.html", shown)


def test_an_empty_fleet_as_a_page() -> None:
    approved.check_page("fleet_empty.html", page(fleet([], now=NOW), "fleet", "Fleet report"))


def test_a_catalog_as_data_table_picture_and_page() -> None:
    result = compatibility_matrix([*reversed(expand_catalog(CATALOG)), {"kind": "ConfigMap"}])
    approved.check("catalog.json", shown(as_data(result)))
    approved.check("catalog.md", markdown(result, "A catalog"))
    approved.check_page("catalog.svg", svg(result, "A <catalog>"))
    approved.check_page("catalog.html", html(result, "A <catalog>"))


def test_modernized_manifests_are_approved() -> None:
    """Each entry of the file is an old manifest's name, what is made of it, and what is told about that."""
    results = {f"{item['kind']} {item['metadata']['name']}": modernize(item) for item in OLD}
    approved.check("modernize.json", shown(results))


@pytest.mark.parametrize("name", ["drift", "expand", "explain", "infer"])
def test_filter_results_of_vms_are_approved(name: str) -> None:
    """Each entry of the file is a VM's name and a filter's answer, and that of KubeVirt 1.4 where it is another."""
    results: dict[str, Any] = {}
    for machine in (item for item in OBJECTS if item["kind"] == "VirtualMachine"):
        now, old = (answer(name, machine, version) for version in (None, "1.4"))
        results[machine["metadata"]["name"]] = now
        if old != now:
            results[f"{machine['metadata']['name']} in 1.4"] = old
    approved.check(f"filter_{name}.json", shown(results))


def answer(name: str, machine: dict[str, Any], version: str | None) -> Any:
    """The answer of a filter, or its error."""
    objects = {"current" if name == "drift" else "objects": OBJECTS}
    try:
        return FILTERS[name](machine, **objects, kubevirt_version=version)
    except AnsibleFilterError as error:
        return str(error)


def test_explain_table_is_approved() -> None:
    web = next(item for item in OBJECTS if item["metadata"]["name"] == "web")
    table = FILTERS["explain"](web, objects=OBJECTS, form="table")
    approved.check("filter_explain.txt", "\n".join([*table, ""]))


def test_each_approved_file_names_what_answered_it() -> None:
    files = {path.name for path in approved.FOLDER.iterdir() if not path.stem.endswith("_input")}
    assert files == set(approved.ANSWERED)
    for source in approved.ANSWERED.values():
        _what, asks, test = source.partition(": tests/")
        assert not asks or (TESTS / test).is_file(), source
