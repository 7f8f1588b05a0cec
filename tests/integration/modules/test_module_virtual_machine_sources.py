"""virtual_machine: sources of disks that exist and cannot give one: a warning before anything is sent."""

from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config

from modules_support import Task, claim_of, manifest, objects, vm, warned

CDI = "cdi.kubevirt.io/v1beta1"


@pytest.fixture
def images(other_namespace: str) -> str:
    """The name of another namespace, with the images."""
    return other_namespace


def data_source(api: Any, namespace: str, name: str, source: dict[str, Any]) -> None:
    body = manifest("DataSource", name, {"source": source})
    objects(api, "DataSource").create(namespace=namespace, body=body)


def declare(task: Task, namespace: str, source: str, check: bool) -> list[str]:
    entry = {**vm("web"), "volumes": None, "boot": {"data_source": source, "size": "1Gi"}, "run_strategy": "Halted"}
    result = task("virtual_machine", check=check, **entry)
    assert result["changed"], result
    return warned(result)


@pytest.mark.parametrize("check", [True, False])
def test_data_source_without_image_is_a_warning(task: Task, shop: str, api: Any, check: bool) -> None:
    data_source(api, shop, "late", {})
    (warning,) = declare(task, shop, "late", check)
    assert f"the DataSource {shop}/late has no image yet" in warning


@pytest.mark.parametrize("check", [True, False])
def test_data_source_with_lost_claim_is_a_warning(task: Task, shop: str, api: Any, check: bool) -> None:
    data_source(api, shop, "old", {"pvc": {"name": "gone", "namespace": shop}})
    (warning,) = declare(task, shop, "old", check)
    assert f"refers to the PersistentVolumeClaim {shop}/gone, which does not exist" in warning


@pytest.mark.parametrize("check", [True, False])
def test_missing_right_to_clone_is_a_warning(
    task: Task, shop: str, images: str, api: Any, cluster: Path, check: bool
) -> None:
    claim_of(api, images, "image")
    data_source(api, images, "fedora", {"pvc": {"name": "image", "namespace": images}})
    account = f"system:serviceaccount:{shop}:default"
    (warning,) = declare(task, shop, f"{images}/fedora", check)
    assert f"{account} may not create datavolumes/source of cdi.kubevirt.io in {images}; bind a role" in warning
    task("virtual_machine", name="web", state="absent", wait=True)

    rule = {"apiGroups": ["cdi.kubevirt.io"], "resources": ["datavolumes/source"], "verbs": ["create"]}
    subject = {"kind": "ServiceAccount", "name": "default", "namespace": shop}
    role = {"kind": "Role", "name": "clone", "apiGroup": "rbac.authorization.k8s.io"}
    with config.new_client_from_config(str(cluster)) as connection:
        rbac = client.RbacAuthorizationV1Api(connection)
        rbac.create_namespaced_role(images, {"metadata": {"name": "clone"}, "rules": [rule]})
        rbac.create_namespaced_role_binding(
            images, {"metadata": {"name": "clone"}, "roleRef": role, "subjects": [subject]}
        )
        attributes = {"namespace": images, "verb": "create", "group": "cdi.kubevirt.io", "resource": "datavolumes"}
        review = {"user": account, "resourceAttributes": {**attributes, "subresource": "source"}}
        reviews = client.AuthorizationV1Api(connection)
        # The authorizer learns of a binding a little later.
        while not reviews.create_subject_access_review({"spec": review}).status.allowed:
            pass
    assert declare(task, shop, f"{images}/fedora", check) == []
