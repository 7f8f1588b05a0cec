"""The figures of a fleet, and the page that shows them; test_approved has one with VMs in every state."""

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from ansible.errors import AnsibleFilterError
from loaded_filters import FILTERS

from fleet_samples import LABEL, part, random_fleet, vm
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


def test_narrow_windows_name_the_columns_in_each_cell() -> None:
    shown = text([vm("a")])
    assert '<td data-head="Namespace"><strong>shop</strong></td>' in shown
    assert all("data-head=" in cell for cell in re.findall("<td[^>]*>", shown))
    # There, cells without a content are hidden; everywhere, long names wrap.
    assert "td:empty { display: none }" in shown and "overflow-wrap: anywhere" in shown


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
        ({"capacity": [{"name": "a"}]}, "_fleet: capacity[0]: fits is missing; pass the module's result unchanged"),
        ({"capacity": "u1.small"}, "_fleet: capacity: expected a list of what a module returned, found 'u1.small'"),
        ({"now": "today"}, "_fleet: now: 'today' is not a time; write a time such as 2026-03-01T08:00:00Z"),
    ],
)
def test_bad_input_is_one_line(arguments: dict[str, Any], result: str) -> None:
    with pytest.raises(AnsibleFilterError) as caught:
        fleet(**{"value": [], **arguments})
    assert str(caught.value) == result


def test_without_a_time_it_is_now() -> None:
    assert fleet([])["generated_at"] >= "2026"


def test_parts_without_a_content_are_left_out() -> None:
    bare = page([vm("a")]).text
    for words in ("as declared", "no team", "fit the nodes", "Team VMs"):
        assert words not in bare
    assert "All VMs run, or are stopped, as declared." in page([vm("a", diagnosis={"state": "running"})]).text


def test_another_label_has_the_team() -> None:
    vms = [vm("a", labels={"team": "web", "owner": "x"}), vm("b", labels={"team": "web"})]
    teams = fleet(vms, now=NOW, team_label="owner")["teams"]
    assert [(item["team"], item["virtual_machines"]) for item in teams] == [("x", 1), ("", 1)]
