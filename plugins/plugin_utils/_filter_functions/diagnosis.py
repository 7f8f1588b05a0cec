"""The filter diagnosis: why VMs do not run, from the objects of a cluster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from textwrap import wrap
from typing import Any, Final

from ansible.errors import AnsibleFilterError

from ...module_utils._capacity.placement.reasons import node_reasons
from ...module_utils._diagnosis.chain import BROKEN, PENDING, RUNS, STOPPED
from ...module_utils._diagnosis.offline import diagnoses, flattened
from ...module_utils._resolver.api.finding import ERROR
from ...module_utils._resolver.api.manifest import Manifest
from ...module_utils._resolver.api.name_rules import did_you_mean, one_line, quoted
from ...module_utils._resolver.kubevirt.cluster import KubeVirt, kubevirt_of
from .._check.sources import UsageError, read_repository
from .._check.sources import manifests as source_manifests
from ._shared import check_option, manifests, release_option, text

_diagnoses = partial(
    diagnoses,
    node_reasons=node_reasons,
)


def diagnosis(value: Any, kubevirt_version: Any = None, at: Any = None) -> list[dict[str, Any]]:
    """See its documentation."""
    objects = list(flattened(manifests("objects", value)))
    time = "" if at is None else str(check_option("at", at, text))
    kubevirt = next((item for item in objects if item.get("kind") == "KubeVirt"), None)
    release = release_option(kubevirt_version, kubevirt)
    try:
        return diagnosed(objects, KubeVirt(release), time)
    except ValueError as error:
        raise AnsibleFilterError(str(error)) from None


def diagnosed_files(value: Any) -> list[dict[str, Any]]:
    """See its documentation."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise AnsibleFilterError(f"expected a list of files, found {quoted(value)}")
    paths = [str(Path(str(path)).expanduser()) for path in value]
    try:
        sources = read_repository(paths)
    except UsageError as error:
        raise AnsibleFilterError(str(error)) from None
    problem = next((finding for finding in sources.findings if finding.severity == ERROR), None)
    if problem is not None:
        raise AnsibleFilterError(f"{problem.location}: {problem.message}")
    return diagnosis([item.manifest for item in source_manifests(sources.sources)])


def diagnosis_of(value: Any, names: Sequence[str] = (), namespaces: Sequence[str] = ("*",)) -> list[dict[str, Any]]:
    """See its documentation."""
    vms = _diagnosed_vms(value)
    labels = {f"{item['namespace']}/{item['name']}": item for item in vms}
    known = {*labels, *(item["name"] for item in vms)}
    for name in names:
        if name not in known:
            problem = f"there is no VM {name} among the {len(labels)} that were read"
            raise AnsibleFilterError(f"diagnose_names: {problem}{did_you_mean(name, known)}")
    return [
        {key: item[key] for key in ("namespace", "name", "diagnosis")}
        for label, item in sorted(labels.items())
        if (not names or label in names or item["name"] in names)
        and ("*" in namespaces or item["namespace"] in namespaces)
    ]


def _diagnosed_vms(value: Any) -> list[dict[str, Any]]:
    vms = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    for vm in vms:
        diagnosis = vm.get("diagnosis") if isinstance(vm, Mapping) else None
        if not isinstance(diagnosis, Mapping) or not {"namespace", "name"} <= vm.keys() or "state" not in diagnosis:
            raise AnsibleFilterError(f"expected virtual machines with their diagnosis, found {quoted(value)}")
    return list(vms)


def diagnosis_lines(value: Any) -> list[str]:
    """See its documentation."""
    vms = _diagnosed_vms(value)
    rows = [
        (f"{item['namespace']}/{item['name']}", item["diagnosis"]["state"], _cause(item["diagnosis"]))
        for item in vms
        if item["diagnosis"]["state"] in (BROKEN, PENDING)
    ]
    counts = Counter(item["diagnosis"]["state"] for item in vms)
    sums = ", ".join(f"{counts[state]} {words}" for state, words in _SUMS.items() if counts[state])
    if not rows:
        return [sums or "no virtual machines"]
    table = [_HEADINGS, *rows]
    widths = [max(len(row[column]) for row in table) for column in range(2)]
    lines = []
    for name, state, cause in table:
        start = f"{name:<{widths[0]}}  {state:<{widths[1]}}  "
        # The terminal would go on below the names.
        lines += wrap(
            cause,
            max(_WIDTH, len(start) + _NARROWEST),
            initial_indent=start,
            subsequent_indent=" " * len(start),
            break_on_hyphens=False,
            break_long_words=False,
        )
    return [*lines, sums]


_WIDTH: Final = 100
_NARROWEST: Final = 40
_HEADINGS: Final = ("VIRTUAL MACHINE", "STATE", "FIRST CAUSE; REMEDY")
_SUMS: Final = {BROKEN: "broken", PENDING: "pending", RUNS: "running", STOPPED: "stopped as declared"}


def _cause(found: Mapping[str, Any]) -> str:
    if found["state"] == PENDING:
        return f"waits for {found['waits_for']}"
    return f"{found['link']}: {found['problem']}; {found['remedy']}"


def diagnosed(objects: list[Manifest], kubevirt: KubeVirt, at: str = "") -> list[dict[str, Any]]:
    """The diagnoses of the VMs among objects without lists, by the KubeVirt among them, or else by the given one.

    Raises ValueError if an object does not match its schema.
    """
    live = next((item for item in objects if item.get("kind") == "KubeVirt"), None)
    version = ".".join(map(str, kubevirt.release.version))
    try:
        return _diagnoses(objects, kubevirt if live is None else kubevirt_of(live, version), at)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        problem = f"an object does not match its schema ({one_line(error)})"
        raise ValueError(f"{problem}; pass them as kubectl get -o yaml prints them") from None
