"""Writes objects of a cluster as support gets them: by kubectl, by `oc adm must-gather`, by KubeVirt's image for it.

The layouts are those that these tools' own tests, and the programs that read their output, expect. No archive of a real
OpenShift cluster is behind them.
"""

import json
import tarfile
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import yaml

Manifest = dict[str, Any]
Write = Callable[[Path, list[Manifest]], None]

_CORE_LISTS = ("Pod", "Event", "PersistentVolumeClaim", "ConfigMap", "ResourceQuota")
"""The kinds of which `oc adm inspect` writes lists; others have a file each."""
_LOG = "{component: virt-launcher, level: info\nmsg: this is no YAML}\n"


def _plural(item: Manifest) -> str:
    kind: str = item["kind"].lower()
    return f"{kind}es" if kind.endswith("s") else f"{kind[:-1]}ies" if kind.endswith("cy") else f"{kind}s"


def _group(item: Manifest) -> str:
    return str(item.get("apiVersion", "v1")).rpartition("/")[0]


def _namespace(item: Manifest) -> str:
    return str(item["metadata"].get("namespace") or "")


def _write(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content), encoding="utf-8")


def _list_of(items: list[Manifest]) -> Manifest:
    """A typed list, whose items do not name their kind."""
    own = [{key: value for key, value in item.items() if key not in ("kind", "apiVersion")} for item in items]
    return {"apiVersion": items[0].get("apiVersion", "v1"), "kind": f"{items[0]['kind']}List", "items": own}


def _grouped(items: Iterable[Manifest], *keys: Callable[[Manifest], str]) -> dict[tuple[str, ...], list[Manifest]]:
    groups: dict[tuple[str, ...], list[Manifest]] = defaultdict(list)
    for item in items:
        groups[tuple(key(item) for key in keys)].append(item)
    return groups


def kubectl_yaml(folder: Path, items: list[Manifest]) -> None:
    """`kubectl get KIND,... -A -o yaml > case.yaml`, and a second call that is added after `---`."""
    halves = [items[::2], items[1::2]]
    lists = [yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": half}) for half in halves]
    _write(folder / "case.yaml", "---\n".join(lists))


def kubectl_json(folder: Path, items: list[Manifest]) -> None:
    """`kubectl get KIND -A -o json >> case.json`, called for each kind."""
    lists = [{"apiVersion": "v1", "kind": "List", "items": group} for group in _grouped(items, _plural).values()]
    _write(folder / "case.json", "".join(f"{json.dumps(content, indent=4)}\n" for content in lists))


def cluster_info_dump(folder: Path, items: list[Manifest]) -> None:
    """`kubectl cluster-info dump -A --output-directory`, which knows no custom resources, and kubectl_json for them."""
    dumped = [item for item in items if item["kind"] in ("Pod", "Event", "Node")]
    for (namespace, plural), group in _grouped(dumped, _namespace, _plural).items():
        _write(folder / namespace / f"{plural}.json", json.dumps(_list_of(group), indent=4))
    for pod in (item for item in dumped if item["kind"] == "Pod"):
        _write(folder / _namespace(pod) / pod["metadata"]["name"] / "logs.txt", _LOG)
    kubectl_json(folder, [item for item in items if item not in dumped])


def oc_must_gather(folder: Path, items: list[Manifest]) -> None:
    """`oc adm must-gather` with KubeVirt's image, which calls `oc adm inspect`; pods are written twice."""
    root = folder / "must-gather.local.1" / "quay-io-kubevirt-must-gather-sha256-0"
    _write(folder / "must-gather.local.1" / "event-filter.html", "<html></html>")
    _write(folder / "must-gather.local.1" / "timestamp", "2026-03-01 08:00:00 +0000 UTC\n")
    openshift = {"apiVersion": "config.openshift.io/v1", "kind": "Node", "metadata": {"name": "cluster"}, "spec": {}}
    for (namespace, group, plural), own in _grouped([*items, openshift], _namespace, _group, _plural).items():
        place = root / "namespaces" / namespace if namespace else root / "cluster-scoped-resources"
        if namespace and own[0]["kind"] in _CORE_LISTS:
            _write(place / "core" / f"{plural}.yaml", _list_of(own))
        else:
            for item in own:
                _write(place / (group or "core") / plural / f"{item['metadata']['name']}.yaml", item)
        for pod in own if plural == "pods" else ():
            name = pod["metadata"]["name"]
            _write(place / "pods" / name / f"{name}.yaml", pod)
            _write(place / "pods" / name / "compute" / "compute" / "logs" / "current.log", _LOG)
            _write(place / "vms" / name / f"{name}.dumpxml.xml", "<domain/>")


def older_must_gather(folder: Path, items: list[Manifest]) -> None:
    """The same of before: custom resources are in `crs`, by their full name, and events are of the newer group, too."""
    custom = [item for item in items if "kubevirt.io" in _group(item)]
    for item in custom:
        namespace = _namespace(item)
        place = folder / "namespaces" / namespace / "crs" if namespace else folder / "cluster-scoped-resources"
        _write(place / f"{_plural(item)}.{_group(item)}" / f"{item['metadata']['name']}.yaml", item)
    others = [item for item in items if item not in custom]
    new = [_new_event(item) for item in others if item["kind"] == "Event"]
    oc_must_gather(folder, [*others, *new])


def _new_event(event: Manifest) -> Manifest:
    renamed = {"message": "note", "involvedObject": "regarding", "lastTimestamp": "deprecatedLastTimestamp"}
    return {**{renamed.get(key, key): value for key, value in event.items()}, "apiVersion": "events.k8s.io/v1"}


def archive(folder: Path, items: list[Manifest]) -> None:
    """A must-gather as customers send it."""
    oc_must_gather(folder / "unpacked", items)
    with tarfile.open(folder / "must-gather.tar.gz", "w:gz") as opened:
        opened.add(folder / "unpacked", arcname=".")


LAYOUTS: dict[str, Write] = {
    write.__name__: write
    for write in (kubectl_yaml, kubectl_json, cluster_info_dump, oc_must_gather, older_must_gather, archive)
}


def written(layout: str, folder: Path, items: list[Manifest]) -> Path:
    """Writes objects, and returns what is to be read."""
    LAYOUTS[layout](folder, items)
    return folder / "must-gather.tar.gz" if layout == "archive" else folder
