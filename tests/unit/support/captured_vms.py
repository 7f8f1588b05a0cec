"""VMs that have captured revisions of their instancetype and preference, as virt-controller captures them."""

from typing import Any

from plugins.module_utils._resolver.api.manifest import Manifest
from plugins.module_utils._resolver.api.matcher import MatcherField
from plugins.module_utils._resolver.change.drift import Drift, drift
from plugins.module_utils._resolver.guest.effect import NOTHING, UNREAD_VMI, GuestEffect
from plugins.module_utils._resolver.kubevirt.cluster import Cluster
from plugins.module_utils._resolver.kubevirt.instancetype import revision_store
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects


def unknown_drift(vm: Manifest, *objects: Manifest) -> Drift:
    """A VM of which nothing is known. objects: all that the cluster has."""
    nothing = GuestEffect(NOTHING)
    return Drift(vm, None, Cluster(Objects(objects)), {}, {}, {}, nothing, nothing)


class CapturingWorld:
    """A VM, the revisions that it has captured, and the objects as they are now."""

    def __init__(self, live: list[Manifest], **domain: Any) -> None:
        self.live = live
        self.revisions: list[Manifest] = []
        self.vm: Manifest = {
            "kind": "VirtualMachine",
            "metadata": {"name": "db", "namespace": "shop", "uid": "vm"},
            "spec": {"runStrategy": "Always", "template": {"spec": {"domain": {"devices": {}, **domain}}}},
            "status": {"created": True},
        }

    def capture(self, matcher_field: MatcherField, manifest: Manifest, style: str = "status") -> None:
        """Captures an object. style: "status" as from KubeVirt 1.5 on, "spec" as up to 1.4."""
        created = revision_store.controller_revision(self.vm, manifest)
        self.revisions.append({"apiVersion": "apps/v1", "kind": "ControllerRevision", **created})
        if style == "spec":
            self.vm["spec"][matcher_field.name]["revisionName"] = created["metadata"]["name"]
        else:
            self.refer(matcher_field, created["metadata"]["name"])

    def refer(self, matcher_field: MatcherField, revision_name: str) -> None:
        matcher = self.vm["spec"][matcher_field.name]
        reference = {"name": matcher["name"], "kind": matcher["kind"]}
        self.vm["status"][matcher_field.reference] = {**reference, "controllerRevisionRef": {"name": revision_name}}

    @property
    def objects(self) -> Objects:
        return Objects([*self.revisions, *self.live])

    @property
    def drift(self) -> Drift:
        return drift(self.vm, UNREAD_VMI, Cluster(self.objects))._replace(own_revisions=self.revisions)
