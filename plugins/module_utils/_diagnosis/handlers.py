"""The nodes and their virt-handlers: whether they answer, and what to do if they do not."""

from __future__ import annotations

from typing import Final

from .._resolver.api.manifest import Manifest, condition_of, name_of, namespace_of
from .ages import age
from .case import NODE, Case
from .link import Evidence, kubectl, of_condition, of_field, steps

# virt-handler renews the heartbeat of its node every minute.
_SILENCE: Final = 300.0
_HEARTBEAT: Final = "kubevirt.io/heartbeat"


def silent_node(case: Case, name: str) -> Evidence | None:
    """The evidence that a node does not answer, or does not exist; None if nothing is known."""
    node = case.nodes.get(name)
    if not name or NODE not in case.known:
        return None
    if node is None:
        return Evidence(NODE, "", name, "status", "nodeName", f"the node {name} does not exist")
    ready = condition_of(node, "Ready")
    return None if ready.get("status", "True") == "True" else of_condition(node, ready)


def silent_handler(case: Case, name: str) -> Evidence | None:
    """The evidence that virt-handler of a node is silent."""
    node = case.nodes.get(name) or {}
    beat = (node.get("metadata", {}).get("annotations") or {}).get(_HEARTBEAT)
    silent = age(case.at, beat)
    if silent <= _SILENCE:
        return None
    return of_field(node, f"metadata.annotations[{_HEARTBEAT}]", f"silent for {int(silent)} s")._replace(time=str(beat))


def restarted_handler(case: Case, name: str = "") -> Manifest:
    """A task that starts virt-handler again, on one node or on all."""
    on_node = ("--field-selector", f"spec.nodeName={name}") if name else ()
    words = ("delete", "pod", "--selector", "kubevirt.io=virt-handler", *on_node)
    return kubectl("Start virt-handler again", *words, namespace=case.kubevirt_namespace)


def out_of_service(name: str) -> Manifest:
    """A task that makes Kubernetes give up a node that is off."""
    taint = "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
    return kubectl(f"Mark {name} as out of service", "taint", "nodes", name, taint, "--overwrite")


def freed(case: Case) -> Manifest | None:
    """A task that deletes the pods of a guest, which its node cannot do any more."""
    now = ("--force", "--grace-period", "0")
    tasks = [
        kubectl(f"Delete {name_of(pod)}", "delete", "pod", name_of(pod), *now, namespace=namespace_of(pod))
        for pod in case.pods
    ]
    return steps("Delete the pods of the guest", tasks)
