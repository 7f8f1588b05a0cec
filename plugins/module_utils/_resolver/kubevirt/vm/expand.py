"""A VM with its instancetype and preference applied, without matchers (KubeVirt ``pkg/instancetype/expand``)."""

from __future__ import annotations

from ...api.manifest import Manifest
from ...api.matcher import INSTANCETYPE, MATCHER_FIELDS, PREFERENCE
from ..cluster import Cluster, KubeVirt
from ..instancetype import applier, find, revision_store
from ..instancetype.find import canonical_vm, template_of
from . import defaults


def expand(vm: Manifest, cluster: Cluster) -> Manifest:
    """The canonical VM as expand-spec returns it. vm: a plain manifest.

    A VM without matchers only becomes canonical. Like KubeVirt, this checks neither the preference's requirements nor
    whether a spread divides. Raises KubeVirtError.
    """
    vm = canonical_vm(vm, cluster.release)
    template = vm["spec"]["template"]
    if all(matcher_field.matcher_of(vm) is None for matcher_field in MATCHER_FIELDS):
        if template is not None:
            template["spec"] = revision_store.as_written(template["spec"])
        return vm
    instancetype = find.effective_spec(vm, INSTANCETYPE, cluster.objects, cluster.release)
    preference = find.effective_spec(vm, PREFERENCE, cluster.objects, cluster.release)
    apply_defaults(template_of(vm), instancetype, preference, cluster.kubevirt)
    for matcher_field in MATCHER_FIELDS:
        vm["spec"].pop(matcher_field.name, None)
        vm["status"].pop(matcher_field.reference, None)
    return vm


def apply_defaults(
    template: Manifest, instancetype: Manifest | None, preference: Manifest | None, kubevirt: KubeVirt
) -> None:
    """Applies instancetype, preference and defaults to a VM's canonical template.

    instancetype, preference: canonical specs or None. Raises KubeVirtError, after which the template is incomplete.
    """
    spec = template["spec"]
    defaults.add_disks_for_volumes(spec)
    defaults.add_network_interface(spec, kubevirt)
    applier.apply_in_place(template["metadata"], spec, instancetype, preference, kubevirt.release)
    defaults.set_spec_defaults(spec, kubevirt)
