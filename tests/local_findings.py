"""This collection's findings about a VM before it is sent: `virtshape-check`, and the preflight of the modules."""

from collections.abc import Iterable
from typing import Any

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.errors import FieldError, Panic
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.finding import ERROR, Finding
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.tree import copy
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.declare import plan
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.admission import (
    admitter,
    validate,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.admission.mutate import admit
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.cluster import (
    Cluster,
    KubeVirt,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.instancetype.lookup import (
    Objects,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.vm import vmi
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.vm.vmi_defaults import (
    set_vmi_defaults,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.preflight import findings as preflight
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._check import evaluate
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._check.checked_objects import (
    CheckedObject,
    KnownObjects,
    objects_of_manifest,
)
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._check.command import EXTENSIONS
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._check.findings import LocatedFinding, Location
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._check.sources import SourceManifest

Manifest = dict[str, Any]

# The checks of all installed capabilities.
CHECKS = [check for extension in EXTENSIONS for check in extension.checks]


def errors(manifest: Manifest, kubevirt: KubeVirt, objects: Iterable[Manifest] = ()) -> list[LocatedFinding]:
    """The errors that the check finds in a VM beside other objects."""
    result: list[LocatedFinding] = []
    for entry in objects_of_manifest(SourceManifest(Location("vm.yaml"), manifest), kubevirt.release, "default"):
        if isinstance(entry, LocatedFinding):
            result.append(entry)
        elif isinstance(entry, CheckedObject):
            known = KnownObjects([entry.manifest, *objects])
            result += evaluate.evaluate([entry], known, kubevirt, extensions=EXTENSIONS)
    return [finding for finding in result if finding.severity == ERROR]


def refused_fields(manifest: Manifest, kubevirt: KubeVirt) -> list[str]:
    """The fields for which KubeVirt's webhook refuses a new VM that has no instance type, in order, also where its form
    is wrong and the check reads no further.
    """
    cluster = Cluster(Objects([]), kubevirt)
    try:
        admitted = admit(manifest, None, cluster).admitted
        if admitted is None:
            return []
        applied = copy(admitted)
        validate.virtual_machine(applied, cluster)
        namespace = manifest["metadata"]["namespace"]
        result = admitter.virtual_machine_causes(applied["spec"], admitted["spec"], None, namespace, kubevirt)
    except (FieldError, Panic):
        return []
    return [cause.field for cause in result]


def refused_fields_of_guest(manifest: Manifest, kubevirt: KubeVirt) -> list[str]:
    """The fields for which KubeVirt's webhook refuses the VMI of a VM, in order."""
    cluster = Cluster(Objects([]), kubevirt)
    admitted = admit(manifest, None, cluster).admitted
    assert admitted is not None
    metadata, spec = vmi.build_in_place(admitted, cluster)
    set_vmi_defaults(spec, kubevirt, maximums=False)
    return [cause.field for cause in admitter.vmi(metadata, spec, kubevirt)]


def issues(
    manifest: Manifest, kubevirt: KubeVirt, objects: Iterable[Manifest] = (), live: Manifest | None = None
) -> list[Finding]:
    """The findings of preflight on a declared VM; none if the live one is the same."""
    known = KnownObjects(objects)
    cluster = Cluster(Objects(objects), kubevirt)
    planned = plan.present(manifest, live, None)
    if planned.action == plan.NONE:
        return []
    admission = admit(plan.merged(planned, live), live, cluster)
    return preflight.findings(admission, live, cluster, known.listed, CHECKS)
