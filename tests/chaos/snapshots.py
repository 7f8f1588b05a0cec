"""The objects in a namespace, without the differences between two equal runs, and the guests that there were."""

from __future__ import annotations

import copy
import json
import socket
import threading
from collections import defaultdict
from types import TracebackType
from typing import Any

import urllib3
from kubernetes import client, config

Manifest = dict[str, Any]

_KINDS = {
    "virtualmachines": ("kubevirt.io", "v1"),
    "virtualmachineinstances": ("kubevirt.io", "v1"),
    "controllerrevisions": ("apps", "v1"),
    "datavolumes": ("cdi.kubevirt.io", "v1beta1"),
    "leases": ("coordination.k8s.io", "v1"),
}
_INSTANCETYPES = "instancetype.kubevirt.io", "v1beta1"
_GENERATION = "instancetype.kubevirt.io/object-generation"


class Namespace:
    """The objects of a namespace. kubeconfig: the kubeconfig of an administrator, past all proxies."""

    def __init__(self, kubeconfig: str, name: str) -> None:
        self._connection = config.new_client_from_config(kubeconfig)
        self._objects, self._core = client.CustomObjectsApi(self._connection), client.CoreV1Api(self._connection)
        self._name = name

    def close(self) -> None:
        self._connection.close()

    def list(self, plural: str) -> list[Manifest]:
        result = self._objects.list_namespaced_custom_object(*_KINDS[plural], self._name, plural)["items"]
        return sorted(result, key=lambda item: str(item["metadata"]["name"]))

    def guests(self) -> dict[str, str]:
        """The uids of the guests that there are, by VM."""
        return {item["metadata"]["name"]: item["metadata"]["uid"] for item in self.list("virtualmachineinstances")}

    def snapshot(self) -> dict[str, Any]:
        """The values that must be the same in the end: none depends on uids, versions, times or generations."""
        now = self._generations()
        revisions = {item["metadata"]["name"]: _revision(item, now) for item in self.list("controllerrevisions")}
        claims = self._core.list_namespaced_persistent_volume_claim(self._name).items
        return {
            "vms": {item["metadata"]["name"]: _vm(item, revisions) for item in self.list("virtualmachines")},
            "guests": {item["metadata"]["name"]: _guest(item) for item in self.list("virtualmachineinstances")},
            "revisions": sorted(revisions.values()),
            "volumes": {item["metadata"]["name"]: _metadata(item) for item in self.list("datavolumes")},
            "claims": sorted((item.metadata.name, item.metadata.finalizers) for item in claims if not _is_prime(item)),
            "leases": {
                item["metadata"]["name"]: bool(item["spec"].get("holderIdentity")) for item in self.list("leases")
            },
        }

    def _generations(self) -> dict[str, int]:
        result = self._objects.list_namespaced_custom_object(
            *_INSTANCETYPES, self._name, "virtualmachineinstancetypes"
        )["items"]
        return {item["metadata"]["name"]: item["metadata"]["generation"] for item in result}


def difference(wanted: Any, found: Any, place: str = "") -> list[str]:
    """The places in which two snapshots differ, with both values."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        keys = sorted({**wanted, **found})
        return [line for key in keys for line in difference(wanted.get(key), found.get(key), f"{place}/{key}")]
    return [] if wanted == found else [f"{place}: {wanted!r}, {found!r}"]


def _is_prime(claim: client.V1PersistentVolumeClaim) -> bool:
    """Whether CDI fills it in place of the claim that owns it, and deletes it then."""
    return any(owner.kind == "PersistentVolumeClaim" for owner in claim.metadata.owner_references or ())


def _metadata(one: Manifest) -> Manifest:
    metadata = one["metadata"]
    kept = {name: metadata.get(name) for name in ("labels", "annotations", "finalizers", "deletionTimestamp")}
    # The uid of the VM that a DataVolume is for.
    kept["labels"] = {name: text for name, text in (kept["labels"] or {}).items() if name != "kubevirt.io/created-by"}
    kept["owners"] = [(owner["kind"], owner["name"]) for owner in metadata.get("ownerReferences", [])]
    return kept


def _revision(one: Manifest, now: dict[str, int]) -> str:
    """The VM of a revision, the object that it holds, and how many generations ago."""
    labels = one["metadata"].get("labels") or {}
    owners = ",".join(owner["name"] for owner in one["metadata"].get("ownerReferences", []))
    name = labels.get("instancetype.kubevirt.io/object-name")
    if name is None:
        return f"{owners} as it was started"
    return f"{owners} {name} {int(labels[_GENERATION]) - now[name]:+}"


def _vm(vm: Manifest, revisions: dict[str, str]) -> Manifest:
    status = vm.get("status") or {}
    reference = (status.get("instancetypeRef") or {}).get("controllerRevisionRef") or {}
    # The resolver knows which fields a manager owns; here it is enough that nobody owns another one.
    owned = {
        (item["manager"], item["operation"], json.dumps(_members(item["fieldsV1"]), sort_keys=True))
        for item in vm["metadata"].get("managedFields", [])
        if item.get("subresource") != "status"
    }
    spec = copy.deepcopy(vm["spec"])
    # Drawn by KubeVirt when the VM is created.
    firmware = spec["template"]["spec"]["domain"].get("firmware", {})
    firmware.update(dict.fromkeys(firmware, "drawn"))
    return {
        **_metadata(vm),
        "spec": spec,
        "owned": sorted(owned),
        "captured": revisions.get(reference.get("name"), reference.get("name")),
        "status": status.get("printableStatus"),
        "asked": status.get("stateChangeRequests"),
        "observed": status.get("observedGeneration") == status.get("desiredGeneration"),
        "conditions": sorted(item["type"] for item in status.get("conditions", []) if item["status"] == "True"),
    }


def _members(fields: Manifest) -> Manifest:
    """The fields without the objects themselves (`.`), which belong to whoever sets the first field in them."""
    return {name: _members(inside) for name, inside in fields.items() if name != "."}


def _guest(instance: Manifest) -> Manifest:
    status = instance.get("status") or {}
    domain = instance["spec"]["domain"]
    return {
        "phase": status.get("phase"),
        "ends": "deletionTimestamp" in instance["metadata"],
        "memory": domain.get("memory", {}).get("guest"),
        "volumes": instance["spec"].get("volumes"),
    }


class Guests:
    """All guests that there have been since the beginning: the uids by VM."""

    def __init__(self, kubeconfig: str, namespace: str) -> None:
        self._kubeconfig, self._namespace = kubeconfig, namespace
        self._seen: dict[str, dict[str, None]] = defaultdict(dict)
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._response: Any = None
        self._over = False

    def __enter__(self) -> Guests:
        self._connection = config.new_client_from_config(self._kubeconfig)
        self._response = client.CustomObjectsApi(self._connection).list_namespaced_custom_object(
            "kubevirt.io", "v1", self._namespace, "virtualmachineinstances", watch=True, _preload_content=False
        )
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over = True
        self._response.connection.sock.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._connection.close()

    def _watch(self) -> None:
        rest = b""
        try:
            for chunk in self._response.stream():
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    metadata = json.loads(line)["object"]["metadata"]
                    self._seen[metadata["name"]][metadata["uid"]] = None
        except urllib3.exceptions.HTTPError:
            if not self._over:
                raise

    def seen(self) -> dict[str, int]:
        """The number of guests that each VM has had."""
        return {name: len(uids) for name, uids in self._seen.items()}

    def know(self, uids: dict[str, str]) -> bool:
        """Whether these have been seen, and so all before them."""
        return all(uid in self._seen[name] for name, uid in uids.items())
