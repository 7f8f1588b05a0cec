"""Decisions of images in registries for VMs."""

from typing import Any

import pytest

from plugins.module_utils._boot_sources import from_image
from plugins.module_utils._boot_sources.image import Content
from plugins.module_utils._boot_sources.origin import Image
from plugins.module_utils._resolver.api.errors import FieldError
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.declare.virtual_machine import with_live_values
from plugins.module_utils._resolver.declare.vm.manifest import manifest, warnings
from plugins.module_utils._resolver.kubevirt.admission.mutate import admit
from plugins.module_utils._resolver.kubevirt.cluster import Cluster, KubeVirt
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects
from plugins.module_utils._resolver.preflight import findings as preflight
from plugins.module_utils._vm_options import VM_OPTIONS

Manifest = dict[str, Any]

IMAGE = "quay.io/containerdisks/fedora:latest"
MARK = "INSTANCETYPE_KUBEVIRT_IO_DEFAULT_"
FEDORA = Content(environment=(f"{MARK}INSTANCETYPE=u1.medium", f"{MARK}PREFERENCE=fedora", "PATH=/bin"))
OWN = Content(
    environment=(
        f"{MARK}INSTANCETYPE=small",
        f"{MARK}INSTANCETYPE_KIND=VirtualMachineInstancetype",
        f"{MARK}PREFERENCE=linux",
    ),
)
BOTH = {"instancetype": {"name": "u1.medium"}, "preference": {"name": "fedora"}}
AUTO = {"instancetype": {"infer": "auto"}, "preference": {"infer": "auto"}}
REGISTRY = {
    "url": "docker://registry.example/own:1",
    "secret_ref": "pull",
    "cert_config_map": "ca",
    "pull_method": "pod",
}


def manifest_from(**options: Any) -> Manifest:
    return manifest({"name": "web", "namespace": "shop", "infer_from_registry": True, **options}, VM_OPTIONS)


def images_to_read(vm: Manifest, live: Manifest | None = None, *existing: Manifest) -> dict[str, tuple[str, Image]]:
    result = from_image.image_inferences(vm, live, Objects(existing))
    return {inference.matcher_field.name: (inference.volume, inference.image) for inference in result}


def inferred(vm: Manifest, answer: Content) -> tuple[Manifest, list[str]]:
    result = from_image.image_inferences(vm, None, Objects([]))
    return from_image.infer_from_images(vm, result, {inference.image: answer for inference in result})


def matchers(vm: Manifest) -> Manifest:
    return {
        matcher_field: vm["spec"][matcher_field]
        for matcher_field in ("instancetype", "preference")
        if matcher_field in vm["spec"]
    }


def test_a_container_disk_is_all_that_is_needed() -> None:
    vm = manifest_from(boot={"container_disk": IMAGE})

    image = Image(IMAGE, "shop")
    assert images_to_read(vm) == {"instancetype": ("boot", image), "preference": ("boot", image)}
    assert matchers(inferred(vm, FEDORA)[0]) == BOTH
    assert matchers(vm) != BOTH, "the declared VM stays as it is"


@pytest.mark.parametrize(
    "options",
    [
        {"boot": {"url": "docker://registry.example/own:1"}},
        {"volumes": [{"name": "root", "import": {"registry": REGISTRY, "size": "10Gi"}}]},
        {"volumes": [{"name": "root", "container_disk": "registry.example/own:1"}]},
        {
            "volumes": [
                {"name": "data", "persistent_volume_claim": "data", "boot_order": 2},
                {"name": "root", "container_disk": "registry.example/own:1", "boot_order": 1},
            ]
        },
    ],
    ids=["boot.url", "import", "volume", "boot order"],
)
def test_the_disk_that_the_vm_boots_from_decides(options: Manifest) -> None:
    vm = manifest_from(**options)

    assert {image.name for _volume, image in images_to_read(vm).values()} == {"registry.example/own:1"}
    assert matchers(inferred(vm, OWN)[0]) == {
        "instancetype": {"name": "small", "kind": "VirtualMachineInstancetype"},
        "preference": {"name": "linux"},
    }


def test_image_has_credentials_ca_and_architecture_of_disk() -> None:
    vm = manifest_from(volumes=[{"name": "root", "import": {"registry": REGISTRY, "size": "10Gi"}}])
    vm["spec"]["dataVolumeTemplates"][0]["spec"]["source"]["registry"]["platform"] = {"architecture": "arm64"}

    assert images_to_read(vm)["preference"][1] == Image("registry.example/own:1", "shop", "pull", "ca", "arm64")

    disk = {"containerDisk": {"image": IMAGE, "imagePullSecret": "pull"}, "name": "root"}
    vm = manifest_from(template={"spec": {"volumes": [disk]}})
    assert images_to_read(vm)["preference"][1] == Image(IMAGE, "shop", "pull")


@pytest.mark.parametrize(
    "options",
    [
        {"infer_from_registry": None},
        {"infer_from_registry": False},
        BOTH,
        {"memory": "2Gi", "preference": {"infer": "none"}},
        {"boot": {"url": "https://example.com/disk.qcow2"}},
        {"boot": {"data_source": "fedora"}},
        {"boot": {"pvc": "disk"}},
    ],
    ids=str,
)
def test_no_image_is_read_for_decided_matchers(options: Manifest) -> None:
    assert images_to_read(manifest_from(**{"boot": {"container_disk": IMAGE}, **options})) == {}


def test_a_matcher_by_name_precedes_the_image() -> None:
    vm = inferred(manifest_from(boot={"container_disk": IMAGE}, preference={"name": "rhel.9"}), FEDORA)[0]

    assert matchers(vm) == {"instancetype": {"name": "u1.medium"}, "preference": {"name": "rhel.9"}}


def test_labels_of_an_existing_volume_precede_its_image() -> None:
    vm = manifest_from(volumes=[{"name": "root", "data_volume": "disk"}], **{r: {"infer": "required"} for r in BOTH})
    volume = {
        "kind": "DataVolume",
        "metadata": {
            "name": "disk",
            "namespace": "shop",
            "labels": {"instancetype.kubevirt.io/default-preference": "rhel.9"},
        },
        "spec": {"source": {"registry": {"url": f"docker://{IMAGE}"}}},
    }

    assert {needed.key.name for needed in from_image.volumes_to_read(vm, None)} == {"disk"}
    assert images_to_read(vm) == {}
    assert images_to_read(vm, None, volume) == {"instancetype": ("root", Image(IMAGE, "shop"))}
    assert from_image.volumes_to_read(manifest_from(boot={"url": "docker://a/b"}), None) == []


def test_image_without_variables_fails_with_a_remedy() -> None:
    with pytest.raises(FieldError) as error:
        inferred(manifest_from(boot={"container_disk": IMAGE}), Content(environment=(f"{MARK}INSTANCETYPE=u1.medium",)))
    assert str(error.value) == (
        f"infer_from_registry: preference: the image {IMAGE} of the volume boot has no variable"
        f" {MARK}PREFERENCE; set preference.name, or infer: auto for a VM that may do without"
    )


def test_unreachable_registry_is_reported_once_for_both() -> None:
    with pytest.raises(FieldError) as error:
        inferred(manifest_from(boot={"container_disk": IMAGE}), Content(problem="cannot reach quay.io: refused"))
    assert str(error.value) == (
        f"infer_from_registry: instancetype and preference: cannot ask for the image {IMAGE} of the volume boot: cannot"
        " reach quay.io: refused; set instancetype.name and preference.name, or infer: auto for a VM that may do"
        " without"
    )


def test_optional_inference_that_fails_leaves_matchers_out() -> None:
    vm = manifest_from(boot={"container_disk": IMAGE}, **AUTO)

    silent = inferred(vm, Content())
    assert matchers(silent[0]) == {} and silent[1] == []
    unknown = inferred(vm, Content(problem="cannot reach quay.io: refused"))
    assert matchers(unknown[0]) == {}
    assert unknown[1][0].startswith(f"the VM gets no instancetype: cannot ask for the image {IMAGE} of the volume")


def test_an_inferred_instancetype_removes_default_memory() -> None:
    """KubeVirt does the same with labels."""
    vm = manifest_from(boot={"container_disk": IMAGE}, memory="2Gi", instancetype={"infer": "auto"})
    assert set(images_to_read(vm)) == {"preference"}, "a VM with memory of its own gets no instancetype"
    vm = manifest_from(boot={"container_disk": IMAGE}, **AUTO)
    vm["spec"]["template"]["spec"]["domain"]["memory"] = {"guest": "2Gi"}

    live = inferred(vm, FEDORA)[0]

    assert matchers(live) == BOTH
    assert "memory" not in live["spec"]["template"]["spec"]["domain"]


@pytest.mark.parametrize("matcher", [{}, AUTO], ids=["required", "auto"])
def test_a_live_vm_keeps_its_matchers(matcher: Manifest) -> None:
    vm = manifest_from(boot={"container_disk": IMAGE}, **matcher)
    live = {**inferred(vm, FEDORA)[0], "status": {}}

    assert images_to_read(vm, live) == {}
    assert matchers(with_live_values(vm, live, "virtshape")[0]) == BOTH


def test_only_required_inference_repeats_for_live_vm() -> None:
    without = manifest_from(boot={"container_disk": IMAGE}, infer_from_registry=False)

    assert images_to_read(manifest_from(boot={"container_disk": IMAGE}, **AUTO), without) == {}
    assert set(images_to_read(manifest_from(boot={"container_disk": IMAGE}), without)) == {"instancetype", "preference"}


def test_small_guest_warning_names_infer_from_registry() -> None:
    for disk in ({"container_disk": IMAGE}, {"url": "docker://quay.io/a/b"}):
        options = {"name": "web", "boot": disk}
        assert "or infer_from_registry" in warnings(options, VM_OPTIONS)[0]
        assert warnings({**options, "infer_from_registry": True}, VM_OPTIONS) == []
    for url in ("https://example.com/a", "oci-archive://example.com/a"):
        plain = {"name": "web", "infer_from_registry": True, "boot": {"url": url}}
        assert "infer_from_registry" not in warnings(plain, VM_OPTIONS)[0]


def test_container_disk_remedies_name_infer_from_registry() -> None:
    with pytest.raises(FieldError, match=r"set name instead, or infer_from_registry: true$"):
        manifest({"name": "web", "boot": {"container_disk": IMAGE}, "preference": {"infer": "required"}}, VM_OPTIONS)
    volume = {"name": "root", "containerDisk": {"image": IMAGE}}
    spec = {"instancetype": {"inferFromVolume": "root"}, "template": {"spec": {"domain": {}, "volumes": [volume]}}}
    vm = {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "metadata": {"name": "web"}, "spec": spec}
    cluster = Cluster(Objects([]), KubeVirt(NEWEST))
    found = preflight.findings(admit(vm, None, cluster), None, cluster, lambda *_: [], (), VM_OPTIONS.inferring)
    assert [finding.remedy for finding in found] == ["add instancetype.name, or set infer_from_registry"]
