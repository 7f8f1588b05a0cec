"""Each fault, put into the real control plane, is named as the first broken link, alone and beside another one."""

import itertools
import json
import os
import re
import signal
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from ansible_environment import played
from cluster_dumps import LAYOUTS, written
from diagnosed_places import ORDER, await_links, first_of, put_all

from local_cluster.processes import started
from plugins.module_utils._cluster.client.session import Session
from plugins.module_utils._cluster.reads.surroundings import list_if_permitted
from plugins.module_utils._diagnosis.case import KINDS_READ
from plugins.module_utils._resolver.api.kinds import KINDS
from plugins.plugin_utils._check.command import main as check
from vm_faults import FAULTS, FURTHER, Fault, NewPlaces

Manifest = dict[str, Any]

SHORT = ("missing claim", "missing type", "quota", "wrong network", "image that cannot be pulled", "paused")
"""The faults of each day: they need no scheduler, and take no time."""
BY_NAME = {fault.name: fault for fault in FAULTS}
ALONE = [fault for fault in FAULTS if not fault.everywhere]
_FINDING = re.compile(r"VirtualMachine ([^/]+)/web: (\w+): .*does-not-run")


@pytest.fixture
def common_faults(new_places: NewPlaces, cluster: Path) -> dict[str, str]:
    """Namespaces of the test run's cluster in which a fault is named → its link."""
    faults = [BY_NAME[name] for name in SHORT]
    places = put_all([[fault] for fault in faults], new_places)
    expected = {place.namespace: fault.link for place, fault in zip(places, faults)}
    for found in await_links(str(cluster), expected).values():
        assert found["evidence"] and found["remedy"] and found["otherwise"] and found["task"]
    return expected


def test_common_faults_are_named_in_dumps(
    common_faults: dict[str, str], session: Session, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    objects = list(_objects(session, common_faults))
    for layout in LAYOUTS:
        capsys.readouterr()
        check([str(written(layout, tmp_path / layout, objects))])
        lines = capsys.readouterr().out.splitlines()
        found = dict(match.groups() for match in map(_FINDING.search, lines) if match)
        assert found == common_faults, layout


def _objects(session: Session, namespaces: Iterable[str]) -> Iterator[Manifest]:
    """The objects that belong to VMs of the namespaces, and those that belong to none."""
    wanted = {"", *namespaces}
    for kind in {**KINDS, **KINDS_READ}.values():
        found = list_if_permitted(session, kind, []) or ()
        yield from (item for item in found if (item["metadata"].get("namespace") or "") in wanted)


@pytest.mark.nightly("the same faults as each day")
def test_the_fleet_report_counts_causes(common_faults: dict[str, str], cluster: Path, tmp_path: Path) -> None:
    extra = {"namespaces": ",".join(common_faults), "directory": str(tmp_path), "fail_if": "broken"}
    variables = {f"fleet_report_{name}": value for name, value in extra.items()}
    playbook = "virtshape.instancetypes.fleet_report"
    output = played(tmp_path, playbook, variables=variables, fails=True, kubeconfig=cluster)
    assert "broken: 6; see" in output, output
    assert "6 do not run as declared: claim 1 (" in output
    report = json.loads((tmp_path / "fleet-report.json").read_text())
    assert sorted(group["link"] for group in report["broken"]) == sorted(common_faults.values())


def pairs(faults: Sequence[Fault] = ALONE) -> Iterator[tuple[Fault, Fault]]:
    """The faults that one VM can have at the same time: it has to run for some, and others do not let it."""
    for pair in itertools.combinations(faults, 2):
        blocked = any(ORDER.index(fault.link) < ORDER.index("memory") for fault in pair if not fault.running)
        needs_guest = any(fault.running for fault in pair) and (blocked or any(_unready(fault) for fault in pair))
        if not needs_guest and not pair[0].touches & pair[1].touches:
            yield pair


def further_pairs() -> Iterator[tuple[Fault, Fault]]:
    """Each further fault with two others."""
    everything = [*ALONE, *FURTHER]
    for index, fault in enumerate(FURTHER):
        # Steps that have no common divisor with the number of faults meet all in time.
        others = (everything[(index * 7 + step) % len(everything)] for step in range(1, len(everything)))
        fitting = (other for other in others if other != fault and _fit(fault, other))
        yield from ((fault, other) for other in itertools.islice(fitting, 2))


def _fit(one: Fault, other: Fault) -> bool:
    """Whether one VM can have both faults at the same time."""
    return (one, other) in pairs([one, other]) and not (one.name.startswith("quota") and other.link == "quota")


def _unready(fault: Fault) -> bool:
    return fault.link in ("crash", "port", "paused", "agent")


@pytest.mark.nightly("further faults and all pairs, on a cluster of their own with declared nodes")
@pytest.mark.own_cluster
def test_each_fault_and_pair_is_named(
    new_places_with_nodes: NewPlaces, nodes_kubeconfig: str, launch: Any, run_cluster: tuple[str, ...]
) -> None:
    groups: list[Sequence[Fault]] = [*([fault] for fault in (*ALONE, *FURTHER)), *pairs(), *further_pairs()]
    places = put_all(groups, new_places_with_nodes)
    await_links(nodes_kubeconfig, {place.namespace: first_of(group) for place, group in zip(places, groups)})
    *_name, folder = run_cluster
    pid = launch("status", "--name", "tests", "--dir", f"{folder}-diagnosis")["processes"]["virt-controller"]
    assert started(pid)
    os.kill(pid, signal.SIGSTOP)
    try:
        places += put_all([[BY_NAME["missing claim"]], []], new_places_with_nodes)
        found = await_links(nodes_kubeconfig, {place.namespace: "controller" for place in places})
    finally:
        os.kill(pid, signal.SIGCONT)
    assert all("virt-controller" in diagnosis["problem"] for diagnosis in found.values())
