"""The options of a VM that boot sources add: what it is for, and disks whose images or sizes decide."""

from __future__ import annotations

from typing import Final

from .._resolver.api.manifest import Manifest
from .._resolver.declare.option_rows import BOOL, DICT, INT, STR, Row, Table, choice

_CHOSEN: Final = ("instancetype", "preference", "memory")


def _has_image(vm: Manifest, volume: str) -> bool:
    from .origin import can_be_asked

    return can_be_asked(vm, volume)


BOOT_SOURCES: Final = Table(
    {
        "workload": Row(
            STR,
            [
                "What the VM is for, such as V(fedora), V(rhel.9) or V(windows.11). The task chooses the"
                " preference, the"
                " boot source among the DataSources of all namespaces, and the instancetype, by the rules of"
                " P(virtshape.instancetypes.workload#filter). RV(results[].choice) says what and why.",
                "An ambiguous name is an error that lists the choices. With O(boot), the disk is that of O(boot). With"
                " O(state=rendered), which makes no connection, O(workload) is an error.",
                "With O(preflight_quota) and O(preflight_placement), the instancetype is the smallest with which the VM"
                " can run.",
                "An existing VM keeps what was chosen for it, in the annotation C(instancetypes.virtshape.io/workload),"
                " until O(size) is set to another value. To go back to O(boot), O(instancetype) and O(preference), set"
                " them to the values of RV(results[].choice).",
            ],
        ),
        "size": Row(
            DICT,
            "Size for O(workload). A string is short for O(size.name), such as V(medium). By default the"
            " instancetype is"
            " the boot source's default, else the smallest for general purposes that meets the requirements of the"
            " preference.",
            shorthand="name",
        ),
        "size.name": Row(STR, "Size of the instancetype, such as V(medium)."),
        "size.cpu": Row(INT, "Minimum number of vCPUs."),
        "size.memory": Row(STR, "Minimum memory of the guest, a quantity such as V(4Gi)."),
        "size.performance": Row(
            STR,
            "Class of the instancetype, such as V(dedicated.vcpu), or its part before the first dot, such as"
            " V(dedicated). The default is V(general.purpose), or the only class that exists.",
        ),
        "boot.expand": Row(
            choice("warn", "grow"),
            "What to do about a disk whose claim is smaller than O(boot.size). V(warn) warns in every run; V(grow)"
            " grows"
            " the claim, if its StorageClass allows expansion, and KubeVirt tells a running guest. No disk shrinks.",
        ),
        "infer_from_registry": Row(
            BOOL,
            [
                "Whether the task infers O(instancetype) and O(preference) from images in registries, which KubeVirt"
                " never does. This concerns container disks, and disks that CDI imports from a registry - by"
                " O(data_volume_templates), O(volumes[].import) or O(boot.url), or a DataVolume that a volume names and"
                " that has no labels.",
                "The task asks the registry for the environment variables of the image, such as"
                " C(INSTANCETYPE_KUBEVIRT_IO_DEFAULT_PREFERENCE=fedora), and declares the names that it finds. It uses"
                " the Secret and the ConfigMap that the disk names, and asks for each image once.",
                "An existing VM keeps what it has, and the task asks nothing. An instancetype or a preference that the"
                " task names wins over the image.",
                "A VM that boots from such a disk and names nothing has O(instancetype.infer=required) and"
                " O(preference.infer=required). Then it is an error if the registry does not answer, or if the image"
                " lacks these variables; with V(auto) it is none. With O(state=rendered), the option is an error.",
            ],
        ),
        "insecure_registry": Row(
            BOOL,
            "Whether O(infer_from_registry) accepts any certificate of a registry, and plain HTTP. It always does for"
            " the C(insecureRegistries) of CDI.",
        ),
        "volumes.import.expand": Row(
            choice("warn", "grow"),
            "What to do about a disk whose claim is smaller than O(volumes[].import.size). V(warn) warns in every run;"
            " V(grow) grows the claim, if its StorageClass allows expansion, and KubeVirt tells a running guest."
            " No disk"
            " shrinks.",
        ),
    },
    # A workload and what it chooses. An entry of a list that sets the one loses the other.
    exclusive=[(request, chosen) for request in ("workload", "size") for chosen in _CHOSEN],
    needs={"size": ("workload", "set workload, or instancetype instead of size")},
    inferring={"infer_from_registry": _has_image},
)
