"""The figures of a fleet, and the page that shows them."""

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from ansible.errors import AnsibleFilterError
from loaded_filters import FILTERS

from fleet_samples import LABEL, captured, entry, part, random_fleet, vm
from fleet_samples import fleet as sample

fleet = FILTERS["_fleet"]
NOW = "2026-03-01T08:00:00Z"
GIB = 2**30


class Page(HTMLParser):
    """The text of a page, its tags that are left open, what it loads, and how many rows one sees and prints unasked."""

    VOID = ("meta", "rect", "br")

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text, self.open, self.references, self.rows = "", list[str](), list[str](), 0
        self.feed(page)
        self.text = " ".join(self.text.split())

    def handle_data(self, data: str) -> None:
        self.text += f" {data}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.references += [str(value) for name, value in attrs if name in ("src", "href")]
        if tag in ("script", "link", "img", "iframe"):
            self.references.append(tag)
        self.rows += tag == "tr" and "details" not in self.open
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def text(vms: list[dict[str, Any]], *, title: str = "", scope: str = "", rows: int = 1000, **others: Any) -> str:
    shown: str = FILTERS["_page"](fleet(vms, now=NOW, **others), "fleet", title, scope, rows)
    return shown


def page(vms: list[dict[str, Any]], **options: Any) -> Page:
    return Page(text(vms, **options))


def drifted(name: str, changed_at: str = "2026-02-20T08:00:00Z", **more: Any) -> dict[str, Any]:
    manifest = vm(name, state="drifted", **more)
    manifest["instancetype"]["changed_at"] = changed_at
    return manifest


def test_totals_of_promised_and_running_resources() -> None:
    stopped = vm("b", size="u1.large", status="Stopped")
    del stopped["vmi"]
    ended = vm("c", vmi={"phase": "Succeeded", "guest": {"vcpus": 1, "memory": "2Gi"}})
    # Before a restart the guest has what it had.
    old = vm("d", vmi={"phase": "Running", "guest": {"vcpus": 4, "memory": "512Mi"}})
    unknown = vm("e", resources={}, problem="ControllerRevision e-1 not found")
    totals = fleet([vm("a"), stopped, ended, old, unknown], now=NOW)["totals"]
    assert (totals["virtual_machines"], totals["running"], totals["problems"]) == (5, 3, 1)
    assert (totals["vcpus"], totals["memory_bytes"]) == (1 + 2 + 1 + 1, (2 + 8 + 2 + 2) * GIB)
    assert (totals["vcpus_running"], totals["memory_bytes_running"]) == (1 + 4 + 1, 2 * GIB + GIB // 2 + 2 * GIB)


def test_vms_by_instancetype_and_preference() -> None:
    own = vm("own", instancetype=part("VirtualMachineInstancetype", "u1.small"), preference=None)
    vms = [vm("a"), drifted("b"), vm("c", size="u1.large"), own, vm("office", namespace="office")]
    result = fleet(vms, instancetypes=[entry("u1.large", deprecated=True)], now=NOW)
    assert [
        (item["kind"], item["namespace"], item["name"], item["virtual_machines"], item["drifted"], item["deprecated"])
        for item in result["instancetypes"]
    ] == [
        (f"{LABEL}Instancetype", "", "u1.small", 3, 1, False),
        (f"{LABEL}Instancetype", "", "u1.large", 1, 0, True),
        ("VirtualMachineInstancetype", "shop", "u1.small", 1, 0, False),
    ]
    # b drifts from its instancetype alone; those without a preference come last.
    assert [(item["name"], item["virtual_machines"], item["drifted"]) for item in result["preferences"]] == [
        ("fedora", 4, 0),
        ("", 1, 0),
    ]


def test_vms_that_do_not_run_have_a_line() -> None:
    claim = {"state": "broken", "link": "claim", "problem": "the claim data does not exist"}
    vms = [vm("a", diagnosis={"state": "runs"}), *(vm(name, diagnosis=claim) for name in "bc")]
    vms.append(vm("d", diagnosis={**claim, "link": "quota"}))
    result = fleet(vms, now=NOW)
    assert (result["totals"]["diagnosed"], result["totals"]["broken"]) == (4, 3)
    assert result["broken"] == [
        {"link": "claim", "virtual_machines": ["shop/b", "shop/c"]},
        {"link": "quota", "virtual_machines": ["shop/d"]},
    ]
    assert "claim 2 shop/b, shop/c" in page(vms).text
    assert "All VMs run, or are stopped, as declared." in page(vms[:1]).text
    assert "as declared" not in page([vm("a")]).text


@pytest.mark.parametrize(
    ("changed_at", "age"),
    [
        ("2026-03-01T07:59:59Z", "less than a day"),
        ("2026-02-28T08:00:00Z", "1 to 7 days"),
        ("2026-02-22T08:00:00Z", "1 to 4 weeks"),
        ("2026-02-01T08:00:00Z", "4 to 12 weeks"),
        ("2025-12-07T08:00:00Z", "more than 12 weeks"),
        # The controller's clock is behind the cluster's.
        ("2026-03-01T08:05:00Z", "less than a day"),
        ("", "not known"),
        ("long ago", "not known"),
    ],
)
def test_drift_is_grouped_by_age(changed_at: str, age: str) -> None:
    result = fleet([drifted("a", changed_at), vm("b")], now=NOW)
    assert [item["age"] for item in result["drift"]["by_age"] if item["virtual_machines"]] == [age]
    assert result["virtual_machines"][0]["drifts_since"] == changed_at


def test_the_longer_drift_of_the_two_counts() -> None:
    both = drifted("a", "2026-02-28T09:00:00Z")
    both["preference"] = part(f"{LABEL}Preference", "fedora", "drifted", changed_at="2025-06-01T00:00:00Z")
    result = fleet([both], now=NOW)
    assert result["virtual_machines"][0]["drifts_since"] == "2025-06-01T00:00:00Z"


def test_drift_is_grouped_by_change() -> None:
    revisions = [
        captured("a"),
        captured("b"),
        captured("c", changes=[], needs="nothing"),
        captured("d", refusal="conflicts"),
        # Not among the VMs: it does not match the selectors.
        captured("other"),
    ]
    result = fleet([drifted(name) for name in "abcde"], revisions=revisions, now=NOW)["drift"]
    assert [(item["needs"], item["virtual_machines"]) for item in result["by_change"]] == [
        ("restart", ["shop/a", "shop/b"]),
        ("nothing", ["shop/c"]),
        # Came to be between the two readings.
        ("", ["shop/e"]),
    ]
    assert result["by_change"][0]["changes"] == [{"field": "domain.memory.guest", "before": "2Gi", "after": "4Gi"}]
    assert result["refused"] == ["shop/d"]


def test_unused_deprecated_and_orphaned_objects_are_listed() -> None:
    result = fleet(
        [
            vm("a", restart_required=True, revisions_lost_by=["backup"]),
            vm("b", revisions_lost_by=["backup", "snapshot"]),
        ],
        revisions=[captured("hidden", drifted=False)],
        unreferenced=[
            {"namespace": "shop", "name": "a-1", "virtual_machine": "a", "captured_at": ""},
            {"namespace": "shop", "name": "hidden-1", "virtual_machine": "hidden", "captured_at": ""},
            {"namespace": "shop", "name": "gone-1", "virtual_machine": "gone", "captured_at": ""},
            {"namespace": "shop", "name": "loose", "virtual_machine": "", "captured_at": ""},
            {"namespace": "office", "name": "a-2", "virtual_machine": "a", "captured_at": ""},
        ],
        instancetypes=[entry("used", used_by=["shop/a"]), entry("unused"), entry("unread", used_by=None)],
        preferences=[entry("old", kind=f"{LABEL}Preference", deprecated=True, used_by=["shop/b"])],
        now=NOW,
    )
    assert result["restart_required"] == ["shop/a"]
    assert (result["lost_in_snapshot"], result["totals"]["lost_in_snapshot"]) == (["shop/b"], 1)
    assert [item["name"] for item in result["unused"]] == ["unused"]
    assert [(item["name"], item["used_by"]) for item in result["deprecated"]] == [("old", ["shop/b"])]
    assert [item["name"] for item in result["orphaned_revisions"]] == ["gone-1", "loose", "a-2"]
    assert [item["name"] for item in result["kept_revisions"]] == ["a-1", "hidden-1"]


def test_users_of_deprecated_objects_by_namespace_and_date() -> None:
    def retired(name: str, namespace: str, size: str, **state: str) -> dict[str, Any]:
        return vm(name, namespace, instancetype=part(f"{LABEL}Instancetype", size, **state))

    deprecated = {"object_state": "deprecated", "replacement": "u2.large"}
    vms = [
        retired("a", "shop", "u1.late", **deprecated, obsolete_from="2027-09-30"),
        retired("b", "shop", "u1.soon", **deprecated, obsolete_from="2027-03-31"),
        retired("c", "office", "u1.soon", **deprecated, obsolete_from="2027-03-31"),
        retired("d", "shop", "u1.gone", object_state="obsolete"),
        retired("e", "shop", "u1.soon", **deprecated, obsolete_from="2027-03-31"),
        retired("f", "shop", "u1.some", **deprecated),
        retired("g", "shop", "u2.large", object_state="active"),
        vm("h"),
    ]
    result = fleet(vms, now=NOW)
    assert [
        (group["namespace"], group["name"], group["obsolete_from"], group["virtual_machines"])
        for group in result["deprecated_in_use"]
    ] == [
        ("shop", "u1.gone", "", ["shop/d"]),
        ("office", "u1.soon", "2027-03-31", ["office/c"]),
        ("shop", "u1.soon", "2027-03-31", ["shop/b", "shop/e"]),
        ("shop", "u1.late", "2027-09-30", ["shop/a"]),
        ("shop", "u1.some", "", ["shop/f"]),
    ]
    assert result["totals"]["deprecated_in_use"] == 6
    assert "shop u1.soon deprecated 2027-03-31 u2.large 2 shop/b, shop/e" in page(vms).text


def test_vms_with_unknown_drift_are_counted() -> None:
    result = fleet([vm("a", instancetype=part(f"{LABEL}Instancetype", "u1.small", "unknown"))], now=NOW)
    assert (result["totals"]["unknown"], result["totals"]["drifted"]) == (1, 0)
    assert "1 with unknown drift" in page([vm("a", instancetype=part("", "x", "unknown"))]).text


def test_the_page_shows_all_of_it() -> None:
    fleet_of_60 = sample(60)
    shown = page(fleet_of_60.pop("value"), title="A <b>fleet</b>", scope="namespaces shop", **fleet_of_60)
    assert shown.open == ["html"] or shown.open == []
    assert shown.references == []
    for words in (
        "A <b>fleet</b> 2026-03-01 08:00 UTC · namespaces shop",
        "60 virtual machines 45 running",
        "12 drifted 20 % of all",
        "domain.memory.guest : 2Gi → 4Gi",
        "spec.template.spec.domain.cpu.model conflicts with selected instance type",
        "u1.large deprecated",
        "unused.39",
        "shop/ lost-1 gone 2025-06-01",
        "1 earlier revision of existing VMs is kept",
        "drifts since 2026-02-28",
    ):
        assert words in shown.text, words


def test_names_are_escaped_in_html() -> None:
    evil = vm("<script>", status="<i>", problem="<p>")
    evil["instancetype"]["name"] = "<u>"
    shown = text([evil], revisions=[], instancetypes=[entry("<s>", catalog="<q>")], scope="<em>")
    assert not re.search("<(script|i|u|s|q|em)>", shown)


def test_a_line_of_the_page_shows_the_vm() -> None:
    pinned = vm("a", instancetype=part("VirtualMachineInstancetype", "u1.small", generation=3, current_generation=5))
    pinned["instancetype"]["pinned"] = True
    bare = vm("b", preference=None, resources={}, vmi={"phase": "Running", "guest": {"vcpus": 1, "memory": "much"}})
    table = page([pinned, bare]).text.partition("All VMs")[2]
    assert "u1.small generation 3, now 5 pinned fedora 1 2 GiB 2025-01-01" in table
    assert "shop/ b Running u1.small ? ? 2025-01-01" in table


def test_page_shows_drift_with_refused_refresh() -> None:
    shown = page([drifted("a", "")], revisions=[captured("a", refusal="no such CPU")])
    table = "Namespace Instancetype Preference VMs Which What KubeVirt would say shop u1.small fedora 1 a no such CPU"
    assert f"Rejected after a refresh {table}" in shown.text
    assert "drifts since unknown" in shown.text


def test_numbers_are_written_for_people() -> None:
    many = [vm(f"vm-{number}", size="m1.8xlarge") for number in range(1500)]
    shown = page(many)
    assert "1,500 virtual machines" in shown.text
    assert "48,000 vCPUs promised" in shown.text
    assert "375 TiB memory promised" in shown.text
    assert "1 virtual machine 1 running 1 vCPUs promised 1 in running guests 2 GiB" in page([vm("a")]).text
    assert "less than 1 % of all" in page([drifted("a"), *many]).text


def test_a_thousand_vms_are_less_than_a_megabyte() -> None:
    thousand = sample(1000)
    others = {name: part for name, part in thousand.items() if name != "value"}
    shown = text(thousand["value"], **others)
    assert len(shown.encode()) < 1_000_000
    assert shown.count("vm-00999") >= 1
    assert not Page(shown).references


def test_long_tables_are_cut_with_a_note() -> None:
    vms = [*(vm(f"a{number}") for number in range(5)), drifted("z")]
    shown = page(vms, rows=2)
    table = shown.text.partition("All VMs")[2]
    # VMs with something to say of come first.
    assert "shop/ z" in table and "shop/ a0" in table and "a1" not in table
    assert "and 4 more; the JSON has them all." in table


@pytest.mark.parametrize("seed", range(5))
def test_any_large_fleet_prints_on_few_pages(seed: int) -> None:
    """Headless Chromium prints 7 to 9 pages of such a fleet; without groups and folds it printed 126 to 173."""
    options = random_fleet(1200, seed)
    vms = options.pop("value")
    shown = page(vms, **options)
    assert shown.open == []
    assert shown.rows <= 220
    # Folded, nothing is lost.
    table = shown.text.partition("Restart required")[2].partition("Lost in a snapshot")[0]
    assert [item["name"] for item in vms if item["restart_required"] and item["name"] not in table] == []


def test_required_restarts_are_grouped_by_namespace_and_reason() -> None:
    vms = [vm(f"web-{number}", restart_required=True, restart_reason="other CPU") for number in range(6)]
    vms += [vm("z", "office", restart_required=True), vm("calm", restart_reason="none needed")]
    table = page(vms).text.partition("Restart required")[2].partition("Lost in a snapshot")[0]
    assert "shop u1.small fedora 6 web-0, web-1, web-2 and 3 more web-3, web-4, web-5 other CPU" in table
    assert table.rstrip().endswith("office u1.small fedora 1 z not known") and "calm" not in table


def test_states_by_team_and_namespace_come_first() -> None:
    halted = {"status": "Stopped", "labels": {"team": "web"}}
    vms = [
        vm("a", labels={"team": "web", "owner": "x"}, restart_required=True),
        vm("b", "office", **halted),
        vm("c", "office", **halted),
        drifted("d"),
        vm("e", status=""),
    ]
    result = fleet(vms, now=NOW)
    assert [(item["team"], item["virtual_machines"], item["states"]) for item in result["teams"]] == [
        ("web", 3, {"Stopped": 2, "Running": 1}),
        ("", 2, {"Running": 1, "not known": 1}),
    ]
    assert [(item["namespace"], item["teams"], item["drifted"]) for item in result["namespaces"]] == [
        ("shop", ["web"], 1),
        ("office", ["web"], 0),
    ]
    shown = page(vms).text
    assert shown.index("VMs by team") < shown.index("For how long") < shown.index("VMs by instancetype")
    assert "web 3 0 1 3 6 GiB 2 Stopped, 1 Running no team 2" in shown
    owners = fleet(vms, now=NOW, team_label="owner")["teams"]
    assert [(item["team"], item["virtual_machines"]) for item in owners] == [("x", 1), ("", 4)]
    # Without the label there is no table of teams.
    bare = page([vm("a")]).text
    assert "VMs by namespace Namespace VMs" in bare and "no team" not in bare


def test_narrow_windows_name_the_columns_in_each_cell() -> None:
    shown = text([vm("a")])
    assert '<td data-head="Namespace"><strong>shop</strong></td>' in shown
    assert all("data-head=" in cell for cell in re.findall("<td[^>]*>", shown))
    # There, cells without a content are hidden; everywhere, long names wrap.
    assert "td:empty { display: none }" in shown and "overflow-wrap: anywhere" in shown


def test_an_empty_fleet() -> None:
    assert fleet([], now=NOW)["totals"]["virtual_machines"] == 0
    assert "There are no VMs." in page([]).text


@pytest.mark.parametrize(
    ("arguments", "result"),
    [
        ({"value": {}}, "_fleet: _input: expected a list of what a module returned, found {}"),
        ({"value": ["a"]}, "_fleet: virtual_machines[0]: expected an entry of a module's result, found 'a'"),
        (
            {"value": [{"name": "a"}]},
            "_fleet: virtual_machines[0]: namespace is missing; pass the module's result unchanged",
        ),
        (
            {"instancetypes": [{"name": "a"}]},
            "_fleet: instancetypes[0]: kind is missing; pass the module's result unchanged",
        ),
        (
            {"unreferenced": [{}]},
            "_fleet: unreferenced[0]: namespace is missing; pass the module's result unchanged",
        ),
        ({"now": "today"}, "_fleet: now: 'today' is not a time; write a time such as 2026-03-01T08:00:00Z"),
    ],
)
def test_bad_input_is_one_line(arguments: dict[str, Any], result: str) -> None:
    with pytest.raises(AnsibleFilterError) as caught:
        fleet(**{"value": [], **arguments})
    assert str(caught.value) == result


def test_without_a_time_it_is_now() -> None:
    assert fleet([])["generated_at"] >= "2026"


CAPACITY = [
    {"name": "u1.small", "fits": True, "node_count": 3, "nodes_total": 4, "additional_vms": 1200},
    {
        "name": "gn1.<x>",
        "fits": False,
        "node_count": 0,
        "nodes_total": 4,
        "additional_vms": 0,
        "problem": "0 of 4 nodes have <gpu>",
    },
]


def test_instancetypes_that_fit_the_nodes() -> None:
    assert fleet([], now=NOW, capacity=CAPACITY)["capacity"][0] == {**CAPACITY[0], "problem": ""}
    shown = page([], capacity=CAPACITY)
    assert not shown.open and not shown.references
    assert "1 of 2 instancetypes fit the nodes" in shown.text
    # VMs that fit no node come first.
    table = shown.text.partition("Missing")[2]
    assert table.index("gn1.<x> 0 of 4 nodes 0 0 0 of 4 nodes have <gpu>") < table.index(
        "u1.small 3 of 4 nodes 3 1,200"
    )
    assert "fit the nodes" not in page([]).text
    with pytest.raises(AnsibleFilterError, match=r"_fleet: capacity\[0\]: fits is missing"):
        fleet([], now=NOW, capacity=[{"name": "a"}])
    with pytest.raises(AnsibleFilterError, match="_fleet: capacity: expected a list"):
        fleet([], now=NOW, capacity="u1.small")
