"""The filter estate and its page."""

import csv
import re
from pathlib import Path
from typing import Any

import pytest
from ansible.errors import AnsibleFilterError
from estate_samples import GIB, instancetype, machine
from loaded_filters import FILTERS
from made_estate import sheets

from plugins.module_utils._estate.readers import rvtools

estate, page = FILTERS["estate"], FILTERS["_estate_page"]
MADE = rvtools.read(sheets()).machines


def test_sums_of_a_made_estate() -> None:
    result = estate(MADE, new_sizes=12)
    summary = result["summary"]
    assert summary["machines"] == len(MADE) == 236 and summary["new_sizes"] == 12
    assert sum(size["machines"] for size in summary["sizes_after"]) == 236
    assert sum(folder["machines"] for folder in summary["folders"]) == 236
    assert summary["guest_memory"] >= summary["source_memory"] and summary["guest_vcpus"] >= summary["source_vcpus"]
    assert result == estate(MADE, new_sizes="12")


def test_guests_have_the_size_and_no_disks() -> None:
    rules = {"devices": {"t4": {"gpu": "nvidia.com/T4"}}}
    item = machine(vcpus=3, reserved={"cpu": True}, hugepages="1Gi", passthrough=["t4"])
    (guest,) = estate([item], rules=rules)["guests"]
    domain = guest["spec"]["template"]["spec"]["domain"]
    assert domain == {
        "cpu": {"sockets": 3, "cores": 1, "threads": 1, "dedicatedCpuPlacement": True},
        "memory": {"guest": "8Gi", "hugepages": {"pageSize": "1Gi"}},
        "devices": {
            "gpus": [{"name": "device-1", "deviceName": "nvidia.com/T4"}],
            "autoattachPodInterface": False,
        },
    }
    assert guest["metadata"] == {"name": "web1", "namespace": "default"}


def test_catalog_as_catalog_info_returns_it() -> None:
    entry = {"name": "own", "namespace": "", "kind": "VirtualMachineClusterInstancetype", "state": "active"}
    entry["spec"] = instancetype("own", 2, "8Gi")["spec"]
    for catalog in ([entry], [instancetype("own", 2, "8Gi")]):
        assert estate([machine()], catalog=catalog)["machines"][0]["instancetype"] == "own"
    gone = estate([machine()], catalog=[{**entry, "state": "deprecated"}, {**entry, "namespace": "shop", "kind": "x"}])
    assert gone["machines"][0]["instancetype"] == "estate.2c-8g"


def test_use_of_prometheus() -> None:
    labels = {"namespace": "shop", "name": "web", "resource": "memory"}
    use = {"data": {"result": [{"metric": labels, "value": [0, str(GIB)]}]}}
    item = machine(id="shop/web", instancetype="u1.large")
    (row,) = estate([item], rules={"rightsize": "p95"}, use=use)["machines"]
    assert row["guest"]["memory"] < 8 * GIB


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"catalog": "other"}, "estate: catalog: expected builtin or a list of manifests, found 'other'"),
        ({"waste": "x"}, "estate: rules.waste: expected percent, such as 15, found 'x'"),
        ({"use": {"data": 3}}, "estate: use: is no answer of Prometheus; save what /api/v1/query returns"),
    ],
)
def test_mistakes_are_one_line(options: Any, message: str) -> None:
    with pytest.raises(AnsibleFilterError) as caught:
        estate([machine()], **options)
    assert str(caught.value) == message


def test_value_that_is_no_list() -> None:
    with pytest.raises(AnsibleFilterError, match="machines: expected a list, found 'text'"):
        estate("text")


def test_page_shows_and_escapes_all() -> None:
    evil = "<script>alert(1)</script>"
    item = machine(name=evil, folder=evil, nics=[{"network": evil}], guest={"text": evil}, passthrough=[evil])
    proposal = estate([item, machine(2, vcpus=8)], rules={"machines": {"web2": {"skip": True}}})
    placed = {"namespace": "a", "name": "web1", "fits": True, "problem": "", "placement": {"node": "node-7"}}
    room = {"virtual_machines": [{"namespace": "a", "name": evil, "fits": False, "problem": evil}, placed]}
    text = page({**proposal, "remarks": [evil], "read_left_out": {"templates": 2}, "room": room}, evil)
    assert "<script" not in text and text.count("&lt;script&gt;") > 8
    assert (
        "2 templates" in text
        and "a rule leaves it out" in text
        and "1 of 2 VMs find room" in text
        and "<strong>node-7</strong>" in text
    )
    assert text == page({**proposal, "remarks": [evil], "read_left_out": {"templates": 2}, "room": room}, evil)


def test_page_of_a_made_estate() -> None:
    text = page(estate(MADE, new_sizes=12), "Estate")
    circles = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="([\d.]+)"', text)
    summary = estate(MADE, new_sizes=12)["summary"]
    assert len(circles) == len(summary["sizes_before"]) + len(summary["sizes_after"])
    assert all(0 < float(x) < 480 and 0 < float(y) < 300 for x, y, _radius in circles)
    for words in ("236", "independent disk", "gold-01", "Shop/Production", "12 would be new"):
        assert words in text
    heads = {head: side for side, head in re.findall(r'<th(?: class="(.)")?>([^<]*)</th>', text)}
    assert {head for head, side in heads.items() if side == "r"} == {"Machines", "Memory", "Uses", "vCPUs"}


def test_page_groups_what_is_lost() -> None:
    disks = [{"name": "scsi0", "size": GIB, "raw": True}, {"name": "scsi1", "size": GIB, "raw": True}]
    lost = [{"disks": disks}, {"disks": disks[1:], "fault_tolerance": True}, {"nics": [{"network": "dmz"}]}]
    machines = [machine(number, **facts) for number, facts in enumerate(lost, 1)]
    section = page(estate(machines), "Estate").partition("<h2>Not brought</h2>")[2].partition("<h2>")[0]
    assert re.findall(r">([^<\n]+)</td><td[^>]*>(\d+)</td><td[^>]*>([^<]+)</td>", section) == [
        ("a raw device mapping", "2", "web1, web2"),
        ("fault tolerance, which KubeVirt does not have", "1", "web2"),
        ("dmz is not in the map of networks", "1", "web3"),
    ]


def test_documented_example_is_current() -> None:
    """`make pictures` writes it."""
    checkout = Path(__file__).parents[3]
    for name, rows in sheets().items():
        with (checkout / "docs" / "examples" / "estate" / f"RVTools_tab{name}.csv").open(encoding="utf-8-sig") as file:
            assert list(csv.reader(file)) == [[str(cell) for cell in row] for row in rows]
    text = (checkout / "docs" / "images" / "estate.svg").read_text(encoding="utf-8")
    proposal = estate(MADE, new_sizes=12)
    assert text.count("<circle") == len(proposal["summary"]["sizes_before"]) + len(proposal["summary"]["sizes_after"])
    assert all(f"<strong>{size['name']}</strong>" in text for size in proposal["summary"]["sizes_after"][:15])


def test_page_shows_what_becomes_free() -> None:
    used = {"cpu": 0.5, "memory": GIB}
    item = machine(folder="shop", vcpus=8, memory=32 * GIB, instancetype="u1.2xlarge", used=used)
    text = page(estate([item], rules={"rightsize": "p95"}), "Use")
    assert "Right-sizing" in text and "<strong>shop</strong>" in text and text.count("7 vCPUs, 30 GiB") == 2


@pytest.mark.parametrize("value", ["text", {"summary": {}}, {"summary": {"sizes_before": [], "sizes_after": []}}])
def test_page_of_something_else(value: Any) -> None:
    with pytest.raises(AnsibleFilterError, match="a proposal of the filter estate"):
        page(value, "Estate")


def test_page_groups_what_readers_say() -> None:
    """A colon separates a part of the machine from what is lost of it, and nothing else."""
    made = dict(sheets(2))
    made["vSnapshot"] = [["VM"], *([row[0]] for row in made["vInfo"][1:])]
    section = page(estate(rvtools.read(made).machines), "Estate").partition("<h2>Not brought</h2>")[2]
    assert re.search(r"snapshots; the current state is what counts</td><td[^>]*>2</td>", section)


def test_rules_are_read_from_their_text() -> None:
    item = machine(1)
    assert estate([item], rules="# none yet\n---\n")["machines"]
    assert not estate([item], rules=f"waste: 20%\nmachines: {{{item['name']}: {{skip: yes}}}}\n")["machines"]
    assert not estate([{**item, "id": "100"}], rules="machines: {100: {skip: true}}")["machines"]
    for text, message in (
        ("a: b: c", r"^estate: rules, line 1, column 5: mapping values are not allowed"),
        ("waste: 1\nwaste: 2", r"^estate: rules, line 2"),
        ("waste: 1\n---\nwaste: 2", r"^estate: rules: has several YAML documents; write one$"),
    ):
        with pytest.raises(AnsibleFilterError, match=message):
            estate([item], rules=text)


def test_sizes_of_earlier_runs_are_not_new() -> None:
    machines = [machine(1, vcpus=3, memory=7 << 30), machine(2, vcpus=5, memory=11 << 30)]
    first = estate(machines)
    after = estate(machines[:1], previous=first)
    assert (first["summary"]["new_sizes"], after["summary"]["new_sizes"]) == (2, 1)
    assert sum(len(series["sizes"]) for series in after["catalog"]["series"].values()) == 2
