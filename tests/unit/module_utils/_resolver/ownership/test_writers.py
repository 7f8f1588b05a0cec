"""Continuous writers are recognised by what they leave on objects, and described in one text."""

from typing import Any

import pytest

from plugins.module_utils._resolver.ownership import writers

FIELD = ("spec", "runStrategy")
OTHER = ("spec", "template", "spec", "domain", "memory", "guest")
TRACKING = "argocd.argoproj.io/tracking-id"


def live(managers: dict[str, tuple[str, ...]] | None = None, **metadata: Any) -> dict[str, Any]:
    """managers: manager → one field."""
    entries = []
    for manager, field in (managers or {}).items():
        node: dict[str, Any] = {}
        for key in reversed(field):
            node = {f"f:{key}": node}
        entries.append({"manager": manager, "operation": "Apply", "fieldsV1": node})
    return {"metadata": {"name": "web", "managedFields": entries, **metadata}}


@pytest.mark.parametrize(
    ("vm", "name"),
    [
        (live({"argocd-controller": FIELD}), "Argo CD"),
        (live({"argocd-application-controller": FIELD}), "Argo CD"),
        (live({"kustomize-controller": FIELD}), "Flux"),
        (live({"helm-controller": FIELD}, annotations={"meta.helm.sh/release-name": "a"}), "Flux"),
        (live({"helm": FIELD}), "Helm"),
        (live({"fleetagent": FIELD}), "Fleet"),
        (live({"configsync.gke.io": FIELD}), "Config Sync"),
        (live({"work-agent": FIELD}), "Open Cluster Management"),
        (live({"kapp": FIELD}), "kapp"),
        (live({"kubectl-client-side-apply": FIELD}, annotations={TRACKING: "app:kubevirt.io/V:shop/web"}), "Argo CD"),
        (live({"kubectl": FIELD}, labels={"kustomize.toolkit.fluxcd.io/name": "apps"}), "Flux"),
        # A copy of another VM.
        (live({"kubectl": FIELD}, annotations={TRACKING: "app:kubevirt.io/V:shop/other"}), None),
        # KubeVirt has written the field since.
        (live({"virt-api": FIELD}, labels={"kustomize.toolkit.fluxcd.io/name": "apps"}), None),
        (live({"argocd-controller": OTHER}), None),
        (live({"kubectl": FIELD, "OpenAPI-Generator": FIELD}), None),
        (live({"virtshape": FIELD}, labels={"argocd.argoproj.io/instance": "shop"}), None),
    ],
)
def test_writers_of_a_field(vm: dict[str, Any], name: str | None) -> None:
    found = writers.writer_claim(vm, [FIELD], "virtshape")
    assert (found.writer.name if found is not None else None) == name
    assert found is None or found.fields == ("spec.runStrategy",)


def test_writer_of_an_object() -> None:
    argo = writers.writer_of(live({"argocd-controller": OTHER}))
    flux = writers.writer_of(live(labels={"helm.toolkit.fluxcd.io/name": "a"}))
    assert argo is not None and flux is not None
    assert (argo.name, flux.name, writers.writer_of(live({"kubectl": FIELD}))) == ("Argo CD", "Flux", None)
    metadata = {
        "name": "web",
        "labels": {"helm.toolkit.fluxcd.io/name": "a", "app": "web"},
        "annotations": {"helm.toolkit.fluxcd.io/name": "a"},
    }
    assert writers.without_marks(metadata, flux) == {"name": "web", "labels": {"app": "web"}}
    assert "annotations" in metadata


def owned(kind: str, name: str = "farm", controller: Any = True) -> dict[str, Any]:
    references = [{"kind": "Team", "name": "web"}, {"kind": kind, "name": name, "controller": controller}]
    return live({"virt-controller": FIELD}, ownerReferences=references)


@pytest.mark.parametrize(
    ("kind", "reverted", "created"),
    [
        (
            "VirtualMachinePool",
            "update reverts the change, unless spec.virtualMachineTemplate has it",
            "update creates the object again, unless spec.replicas is lower",
        ),
        (
            "KubevirtMachine",
            "rollout reverts the change, unless the KubevirtMachineTemplate has it",
            "rollout creates the object again, unless its Machine is deleted",
        ),
        (
            "Tenant",
            "write probably reverts the change, unless the Tenant has it",
            "write probably creates the object again, unless the Tenant no longer has it",
        ),
    ],
)
def test_a_controller_owns_every_field(kind: str, reverted: str, created: str) -> None:
    vm = owned(kind)
    writer = writers.writer_of(vm)
    assert writer is not None
    assert writers.WriterClaim(writer).text(writers.CREATED) == f"{kind} farm owns the object: its next {created}"
    found = writers.writer_claim(vm, [OTHER], "virtshape")
    assert found is not None
    assert found.text(writers.REVERTED) == f"{kind} farm owns the object: its next {reverted}"
    assert writers.writer_claim(vm, [], "virtshape") is None
    # Taking over fields from the manager of the owner would change nothing.
    assert writers.field_conflict({"virt-controller": ["spec.runStrategy"]}, vm) == (
        'another field manager owns declared fields: "virt-controller" owns spec.runStrategy; remove the fields from'
        f" the task, or set force_conflicts: true (takes what differs). {found.text(writers.REVERTED)}"
    )


def test_an_owner_in_another_namespace() -> None:
    ssp = {"operator-sdk/primary-resource": "cnv/ssp", "operator-sdk/primary-resource-type": "SSP.ssp.kubevirt.io"}
    writer = writers.writer_of(live({"manager": FIELD}, annotations=ssp))
    assert writer is not None
    assert writers.WriterClaim(writer).text(writers.REVERTED) == (
        "SSP ssp owns the object: its next write reverts the change, unless the HyperConverged object has it"
    )


def test_an_owner_that_is_no_controller_writes_nothing() -> None:
    for vm in (owned("Tenant", controller=False), owned("Tenant", controller=None)):
        assert writers.writer_of(vm) is None
        assert writers.writer_claim(vm, [FIELD], "virtshape") is None
        assert "take_over: [virt-controller]" in writers.field_conflict({"virt-controller": ["spec.runStrategy"]}, vm)


def test_many_fields_are_counted() -> None:
    found = writers.WriterClaim(writers.WRITERS[0], tuple("abcde"))
    assert found.text(writers.REVERTED) == (
        "Argo CD declares a, b, c and 2 more too: its next sync reverts the change, unless Git has it"
    )
    assert writers.WriterClaim(writers.WRITERS[-1]).text(writers.CREATED) == (
        "Helm declares the object too: its next upgrade creates the object again, unless the chart no longer has it"
    )


def test_remedies_name_both_options() -> None:
    assert writers.remedies(["virtctl"]) == (
        "force_conflicts: true (takes what differs) or take_over: true (takes all that the task declares)"
    )
    assert "take_over: [kubectl, virtctl] (" in writers.remedies(["virtctl", "kubectl"])
