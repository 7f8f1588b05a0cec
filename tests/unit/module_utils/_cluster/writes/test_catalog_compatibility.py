"""Whether a catalog fits the cluster, where its schemas cannot be read or are not what one expects."""

from typing import Any

import pytest

from plugins.module_utils._cluster.writes.catalog_compatibility import check_fields, foreign_architectures
from scripted_server import Manifest, Store, forbidden, session_with

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
OPENAPI = "/openapi/v3/apis/instancetype.kubevirt.io/v1beta1"
SPEC = {"properties": {"cpu": {"properties": {"guest": {}}}, "memory": {"properties": {"guest": {}}}}}
SIZE: Manifest = {
    "apiVersion": "instancetype.kubevirt.io/v1beta1",
    "kind": "VirtualMachineInstancetype",
    "metadata": {"name": "small", "namespace": "shop"},
    "spec": {"cpu": {"guest": 1}, "memory": {"guest": "2Gi"}, "annotations": {"a": "b"}},
}


def definition(**version: Any) -> Manifest:
    served = {"name": "v1beta1", "served": True, "schema": {"openAPIV3Schema": {"properties": {"spec": SPEC}}}}
    return {
        "metadata": {"name": "virtualmachineinstancetypes.instancetype.kubevirt.io"},
        "spec": {"versions": [{**served, **version}]},
    }


def described(kind: str, **schema: Any) -> Manifest:
    named = {"x-kubernetes-group-version-kind": [{"kind": kind}], **schema}
    return {"components": {"schemas": {"other": {}, "this": named}}}


def compared(store: Store) -> tuple[list[Manifest], list[Any], list[str]]:
    """(the manifests without their lost fields, these fields, warnings)."""
    warnings: list[str] = []
    with session_with(store) as session:
        return *check_fields(session, [SIZE], warnings), warnings


def test_fields_missing_from_the_definition_are_lost() -> None:
    manifests, [(object_key, lost)], warnings = compared(Store({DEFINITIONS: [definition()]}))
    assert (object_key.name, lost.lost, warnings) == ("small", ("spec.annotations",), [])
    assert manifests == [{**SIZE, "spec": {"cpu": {"guest": 1}, "memory": {"guest": "2Gi"}}}]


def test_unknown_schemas_count_as_fitting() -> None:
    for store in (Store({DEFINITIONS: [definition(served=False)]}), Store({DEFINITIONS: []})):
        assert compared(store) == ([SIZE], [], [])


def test_fits_falls_back_to_the_openapi_description() -> None:
    answer = described("VirtualMachineInstancetype", properties={"spec": SPEC})
    store = Store({}, {("GET", SIZE["kind"].lower() + "s.instancetype.kubevirt.io"): forbidden("definitions")})
    store.answers["GET", OPENAPI] = (200, answer)
    _manifests, lost_fields, warnings = compared(store)
    assert ([item.lost for _key_fields, item in lost_fields], warnings) == ([("spec.annotations",)], [])


@pytest.mark.parametrize(
    "published",
    [
        forbidden("openapi"),
        None,
        (200, {}),
        (200, described("VirtualMachinePreference", properties={"spec": SPEC})),
        (200, described("VirtualMachineInstancetype")),
    ],
)
def test_without_crd_and_openapi_fit_is_unknown(published: Any) -> None:
    store = Store({}, {("GET", "instancetype.kubevirt.io"): forbidden("x"), ("GET", OPENAPI): published})
    manifests, lost_fields, warnings = compared(store)
    assert (manifests, lost_fields) == ([SIZE], [])
    assert warnings == [
        "cannot check which fields of VirtualMachineInstancetype the cluster knows: x is forbidden. To permit"
        " the request, grant "
        '{apiGroups: ["apiextensions.k8s.io"], resources: ["customresourcedefinitions"], verbs: ["get"]}'
        " in a ClusterRole"
    ]


def test_lost_connection_is_reported_once_per_kind() -> None:
    _manifests, _lost_fields, [warning] = compared(Store({}, {("GET", "instancetype.kubevirt.io"): None}))
    assert warning.startswith(
        "cannot check which fields of VirtualMachineInstancetype the cluster knows: cannot reach "
    )


@pytest.mark.parametrize(("default", "others"), [("amd64", ["b"]), ("arm64", ["a"]), (None, ["b"])])
def test_preferences_for_another_architecture(default: str | None, others: list[str]) -> None:
    def preference(name: str, **spec: Any) -> Manifest:
        return {"kind": "VirtualMachineClusterPreference", "metadata": {"name": name}, "spec": spec}

    manifests = [
        preference("a", requirements={"architecture": "amd64"}),
        preference("b", preferredArchitecture="arm64"),
        preference("c"),
        {**SIZE, "metadata": {**SIZE["metadata"], "labels": {"instancetype.kubevirt.io/arch": "s390x"}}},
    ]
    live = {"metadata": {"name": "kubevirt"}, "status": {"defaultArchitecture": default} if default else {}}
    with session_with(Store({"/apis/kubevirt.io/v1/kubevirts": [live]})) as session:
        texts = foreign_architectures(session, manifests)
    assert [object_key.name for object_key in texts] == others
    if default == "arm64":
        message = "the task deploys it without these fields, because it is for amd64 and the cluster runs arm64"
        assert list(texts.values()) == [message]
