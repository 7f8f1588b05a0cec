"""Each fault, put into the real control plane, is named as the first broken link, alone and beside another one."""

import itertools
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from local_cluster.processes import started
from modules_support import execute
from plugins.module_utils._diagnosis.chain import CHAIN
from vm_faults import FAULTS, Fault, Place, put, wait_until

Manifest = dict[str, Any]

SHORT = ("missing claim", "missing type", "quota", "wrong network", "image that cannot be pulled", "paused")
"""The faults of each day: they need no scheduler, and take no time."""
ORDER = [link.name for link in CHAIN]
BY_NAME = {fault.name: fault for fault in FAULTS}
SCHEDULED = pytest.mark.nightly("further faults, on a cluster of their own with declared nodes")


def diagnosed(kubeconfig: str, place: Place) -> Manifest:
    options = {"kubeconfig": kubeconfig, "namespace": place.namespace, "include": ["diagnosis"]}
    (vm,) = execute("virtual_machine_info", options)["virtual_machines"]
    result: Manifest = vm["diagnosis"]
    return result


def await_link(kubeconfig: str, place: Place, link: str) -> Manifest:
    """The diagnosis, once it names a link."""
    last: list[Manifest] = []

    def named() -> bool:
        last[:] = [diagnosed(kubeconfig, place)]
        return last[0].get("link") == link

    try:
        wait_until(named)
    except AssertionError:
        raise AssertionError(f"{link} expected: {last}") from None
    return last[0]


@pytest.mark.parametrize("name", SHORT)
def test_the_fault_is_named(name: str, place: Place, cluster: Path) -> None:
    put((BY_NAME[name],), place)
    found = await_link(str(cluster), place, BY_NAME[name].link)
    assert found["evidence"] and found["remedy"] and found["otherwise"] and found["task"]


def alone() -> Iterator[Fault]:
    return (fault for fault in FAULTS if not fault.everywhere)


def slug(*faults: Fault) -> str:
    text = "-and-".join(fault.name.lower() for fault in faults)
    return "".join(character if character.isalnum() else "-" for character in text)[:63].strip("-")


@SCHEDULED
@pytest.mark.own_cluster
@pytest.mark.parametrize("fault", list(alone()), ids=lambda fault: fault.name)
def test_each_fault_is_named(fault: Fault, new_place: Callable[[str], Place], nodes_kubeconfig: str) -> None:
    place = new_place(slug(fault))
    put((fault,), place)
    await_link(nodes_kubeconfig, place, fault.link)


def pairs() -> Iterator[tuple[Fault, Fault]]:
    """The faults that one VM can have at the same time: it has to run for some, and others do not let it."""
    for pair in itertools.combinations(alone(), 2):
        blocked = any(ORDER.index(fault.link) < ORDER.index("memory") for fault in pair if not fault.running)
        needs_guest = any(fault.running for fault in pair) and (blocked or any(_unready(fault) for fault in pair))
        if not needs_guest and not pair[0].touches & pair[1].touches:
            yield pair


def _unready(fault: Fault) -> bool:
    return fault.link in ("crash", "port", "paused")


@SCHEDULED
@pytest.mark.own_cluster
@pytest.mark.parametrize("pair", list(pairs()), ids=lambda pair: " and ".join(fault.name for fault in pair))
def test_the_earlier_of_two_is_named(
    pair: tuple[Fault, Fault], new_place: Callable[[str], Place], nodes_kubeconfig: str
) -> None:
    place = new_place(slug(*pair))
    put(pair, place)
    await_link(nodes_kubeconfig, place, min((fault.link for fault in pair), key=ORDER.index))


@SCHEDULED
@pytest.mark.own_cluster
@pytest.mark.parametrize("other", ["", "missing type", "quota", "paused"])
def test_a_silent_controller_is_named(
    other: str, new_place: Callable[[str], Place], nodes_kubeconfig: str, launch: Any, run_cluster: tuple[str, ...]
) -> None:
    fault = BY_NAME.get(other)
    place = new_place(slug(*([fault] if fault else []), BY_NAME["controller down"]))
    if fault is not None:
        put((fault,), place)
        await_link(nodes_kubeconfig, place, fault.link)
    *_name, folder = run_cluster
    processes = launch("status", "--name", "tests", "--dir", f"{folder}-diagnosis")["processes"]
    pid = processes["virt-controller"]
    assert started(pid)
    os.kill(pid, signal.SIGSTOP)
    try:
        if fault is None:
            put((), place)
        found = await_link(nodes_kubeconfig, place, "controller")
        assert "virt-controller" in found["problem"]
    finally:
        os.kill(pid, signal.SIGCONT)
