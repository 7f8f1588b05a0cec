"""The filters of reports: a fleet, several clusters as one with what they differ in, and any report as a page."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from typing import Any, Final

from ansible.errors import AnsibleFilterError
from jinja2 import UndefinedError

from ...module_utils._resolver.api import schema
from ...module_utils._resolver.api.errors import FieldError
from ...module_utils._resolver.api.matcher import MATCHER_FIELD_OF_KIND
from ...module_utils._resolver.api.tree import differences
from .._reports.fleet_summary import TEAM_LABEL, summary
from .._reports.html_pages import render
from ._shared import check_option, choice, list_of, positive_integer

Result = dict[str, Any]
Key = tuple[str, str, str]

MISSING: Final = "missing"
ADDITIONAL: Final = "additional"
CHANGED: Final = "changed"
_TIME: Final = "%Y-%m-%dT%H:%M:%SZ"


def page(value: Any, name: Any, title: Any, scope: Any = "all namespaces", rows: Any = 1000) -> str:
    """See its documentation."""
    check_option("name", name, choice("fleet", "refresh", "upgrade"))
    rows = check_option("rows", rows, positive_integer)
    if not isinstance(value, Mapping):
        raise AnsibleFilterError(f"expected the data of the report {name}, found {value!r}")
    time = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M")
    try:
        return render(name, report=value, title=str(title), scope=str(scope), rows=rows, time=time)
    except UndefinedError as error:
        raise AnsibleFilterError(f"not the data of the report {name}: {error}") from None


def fleet(
    value: Any,
    revisions: Any = (),
    unreferenced: Any = (),
    instancetypes: Any = (),
    preferences: Any = (),
    capacity: Any = (),
    now: Any = None,
    team_label: Any = TEAM_LABEL,
) -> dict[str, Any]:
    """See its documentation."""
    lists = {
        "_input": value,
        "revisions": revisions,
        "unreferenced": unreferenced,
        "instancetypes": instancetypes,
        "preferences": preferences,
    }
    for option, entries in {**lists, "capacity": capacity}.items():
        check_option(option, entries, list_of("what a module returned"))
    time = check_option("now", now, _moment)
    return summary(value, revisions, unreferenced, instancetypes, preferences, time, capacity, str(team_label))


def _moment(value: Any) -> str:
    if value is None:
        return datetime.now(timezone.utc).strftime(_TIME)
    try:
        return datetime.strptime(str(value), _TIME).strftime(_TIME)
    except ValueError:
        raise ValueError(f"{value!r} is not a time; write a time such as 2026-03-01T08:00:00Z") from None


def fleet_clusters(value: Any, failed: Any = None) -> dict[str, Any]:
    """See its documentation."""
    parts, failed = _checked_parts(value), failed or {}
    different = _different(parts)
    counts: Counter[str] = Counter()
    for row in (row for rows in different.values() for row in rows):
        counts[row["cluster"]] += len(row.get("names", [row]))
    read = [
        {
            "cluster": part["cluster"],
            "kubevirt_version": part["kubevirt_version"],
            "catalogs": _catalogs(part),
            "totals": {**part["report"]["totals"], "cluster_differences": counts[part["cluster"]]},
            "failed": False,
            "msg": "",
        }
        for part in parts
    ]
    joined = _joined([(part["cluster"], part["report"]) for part in parts])
    return {
        **joined,
        "totals": {
            **joined["totals"],
            "clusters": len(read) + len(failed),
            "failed_clusters": len(failed),
            "cluster_differences": sum(counts.values()),
        },
        "clusters": [
            *read,
            *(
                {"cluster": name, "kubevirt_version": "", "catalogs": [], "totals": {}, "failed": True, "msg": msg}
                for name, msg in failed.items()
            ),
        ],
        "differences": different,
    }


def _checked_parts(value: Any) -> list[Result]:
    """The clusters, each a dictionary with the needed keys. Raises AnsibleFilterError."""
    if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
        raise AnsibleFilterError(f"expected a list of clusters, found {value!r}")
    parts = list(value)
    if not parts:
        raise AnsibleFilterError("expected at least one cluster")
    for index, part in enumerate(parts):
        if not isinstance(part, Mapping):
            raise AnsibleFilterError(f"[{index}]: expected a dictionary, found {part!r}")
        for name in ("cluster", "kubevirt_version", "report", "instancetypes", "preferences"):
            if name not in part:
                raise AnsibleFilterError(f"[{index}]: {name} is missing")
    return parts


def _joined(values: list[tuple[str, Any]]) -> Any:
    """Numbers are added; entries of lists are named after their cluster."""
    first = values[0][1]
    if isinstance(first, Mapping):
        return {key: _joined([(cluster, value[key]) for cluster, value in values]) for key in first}
    if isinstance(first, list):
        if first and "age" in first[0] and len(first[0]) == 2:
            return _ages(entry for _cluster, entries in values for entry in entries)
        named = [_named(cluster, entry) for cluster, entries in values for entry in entries]
        return sorted(named, key=_size, reverse=True)
    return (
        sum(value for _cluster, value in values) if isinstance(first, int) else max(value for _cluster, value in values)
    )


def _named(cluster: str, entry: Any) -> Any:
    return {"cluster": cluster, **entry} if isinstance(entry, Mapping) else f"{cluster}/{entry}"


def _size(entry: Any) -> int:
    """The sort key of groups, the largest first; other items keep their order."""
    vms = entry.get("virtual_machines", 0) if isinstance(entry, Mapping) else 0
    unnamed = any(entry.get(name) == "" for name in ("team", "name")) if vms else False
    return -1 if unnamed else vms if isinstance(vms, int) else len(vms)


def _ages(entries: Iterable[Result]) -> list[Result]:
    counts: Counter[str] = Counter()
    for entry in entries:
        counts[entry["age"]] += entry["virtual_machines"]
    return [{"age": age, "virtual_machines": count} for age, count in counts.items()]


def _catalogs(part: Result) -> list[Result]:
    """The deployed catalogs, each with the number of objects of each version."""
    versions: dict[str, Counter[str]] = {}
    for item in _objects(part):
        if item.get("catalog"):
            versions.setdefault(item["catalog"], Counter())[item.get("catalog_version") or ""] += 1
    return [{"name": name, "versions": dict(sorted(counts.items()))} for name, counts in sorted(versions.items())]


def _objects(part: Result) -> list[Result]:
    return [*part["instancetypes"], *part["preferences"]]


def _different(parts: list[Result]) -> Result:
    """The clusters whose value differs from the most frequent one; the first counts among equally frequent values."""
    return {
        "kubevirt": _minority_clusters({part["cluster"]: part["kubevirt_version"] for part in parts}),
        "catalogs": [
            {"name": name, **row}
            for name in sorted({catalog["name"] for part in parts for catalog in _catalogs(part)})
            for row in _minority_clusters(
                {
                    part["cluster"]: next(
                        (list(deployed["versions"]) for deployed in _catalogs(part) if deployed["name"] == name), []
                    )
                    for part in parts
                }
            )
        ],
        "objects": _different_objects(parts),
    }


def _minority_clusters(values: Mapping[str, Any]) -> list[Result]:
    """The clusters with another value than most."""
    texts = {cluster: json.dumps(value, sort_keys=True) for cluster, value in values.items()}
    counts = Counter(texts.values())  # in order, so that the first of the most common counts
    most = counts.most_common(1)[0][0] if counts else ""
    return [
        {"cluster": cluster, "value": values[cluster], "most": json.loads(most)}
        for cluster, text in texts.items()
        if text != most
    ]


def _different_objects(parts: list[Result]) -> list[Result]:
    """Cluster-wide objects and objects of catalogs, by cluster and difference."""
    specs: dict[Key, dict[str, Any]] = {}
    for part in parts:
        for item in _objects(part):
            if not item["namespace"] or item.get("catalog"):
                key = (item["kind"], item["namespace"], item["name"])
                specs.setdefault(key, {})[part["cluster"]] = _canonical(item)
    groups: dict[str, Result] = {}
    for (kind, namespace, name), specs_by_cluster in sorted(specs.items()):
        for row in _minority_clusters({part["cluster"]: specs_by_cluster.get(part["cluster"]) for part in parts}):
            own, most = row["value"], row["most"]
            group: Result = {
                "cluster": row["cluster"],
                "kind": kind,
                "difference": MISSING if own is None else ADDITIONAL if most is None else CHANGED,
                "changes": [] if None in (own, most) else differences(most, own),
            }
            names = groups.setdefault(json.dumps(group, sort_keys=True), {**group, "names": []})["names"]
            names.append(f"{namespace}/{name}" if namespace else name)
    order = [part["cluster"] for part in parts]
    return sorted(groups.values(), key=lambda group: (order.index(group["cluster"]), -len(group["names"])))


def _canonical(item: Result) -> Any:
    try:
        return schema.canonical(MATCHER_FIELD_OF_KIND[item["kind"]].spec_type, item.get("spec"))
    except FieldError:
        return item.get("spec")  # of a newer KubeVirt
