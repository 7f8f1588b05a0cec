"""Imports whose source does not exist."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.find.lookup import Problem
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.preflight.references import (
    ignored_sizes,
    missing_sources,
)


class Cluster:
    """One DataSource in images, one claim in shop; snapshots may not be read."""

    there = (("DataSource", "images", "fedora"), ("PersistentVolumeClaim", "shop", "disk"))

    def get(self, kind: str, namespace: str, name: str) -> Any:
        if kind == "VolumeSnapshot":
            return Problem("volumesnapshots is forbidden", "Forbidden", 403)
        return {} if (kind, namespace, name) in self.there else None

    def list(self, kind: str, namespace: str) -> list[dict[str, Any]]:
        return [{"metadata": {"name": place[2]}} for place in self.there if place[:2] == (kind, namespace)]


def vm(**spec: Any) -> dict[str, Any]:
    template = {"metadata": {"name": "web-boot"}, "spec": spec}
    return {"metadata": {"name": "web", "namespace": "shop"}, "spec": {"dataVolumeTemplates": [template]}}


def source(name: str, **more: str) -> dict[str, Any]:
    return vm(sourceRef={"kind": "DataSource", "name": name, **more})


def missing_lines(manifest: dict[str, Any], live: dict[str, Any] | None = None) -> list[str]:
    cluster = Cluster()
    return list(missing_sources(manifest, live, cluster, cluster.list))


PATH = "spec.dataVolumeTemplates[0].spec"


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        (
            source("fedora"),
            f"{PATH}.sourceRef.name: no DataSource fedora in the namespace shop; create the object first, "
            "or name an existing object",
        ),
        (
            source("fedor", namespace="images"),
            f"{PATH}.sourceRef.name: no DataSource fedor in the namespace images; did you mean fedora?",
        ),
        (
            vm(source={"pvc": {"name": "dis", "namespace": "shop"}}),
            f"{PATH}.source.pvc.name: no PersistentVolumeClaim dis in the namespace shop; did you mean disk?",
        ),
    ],
)
def test_missing_sources(manifest: dict[str, Any], message: str) -> None:
    assert missing_lines(manifest) == [message]


@pytest.mark.parametrize(
    "manifest",
    [
        source("fedora", namespace="images"),
        vm(source={"pvc": {"name": "disk"}}),
        vm(source={"snapshot": {"name": "s", "namespace": "shop"}}),
        vm(source={"http": {"url": "https://x/y"}}),
        vm(source={"blank": {}}),
        vm(sourceRef={"kind": "DataSource"}),
        {"metadata": {"name": "web"}, "spec": {}},
    ],
)
def test_existing_sources(manifest: dict[str, Any]) -> None:
    assert missing_lines(manifest) == []


def test_copied_sources_may_be_missing() -> None:
    assert missing_lines(source("fedora"), live=source("fedora")) == []


@pytest.mark.parametrize(("size", "reported"), [("2Gi", True), ("512Mi", True), ("1024Mi", False), ("", False)])
@pytest.mark.parametrize("field", ["storage", "pvc"])
def test_a_disk_that_exists_keeps_its_size(size: str, reported: bool, field: str) -> None:
    def sized(text: str) -> dict[str, Any]:
        return vm(**{field: {"resources": {"requests": {"storage": text} if text else {}}}})

    assert [line.partition(",")[0] for line in ignored_sizes(sized(size), sized("1Gi"))] == (
        ["spec.dataVolumeTemplates[0]: the disk web-boot keeps its size of 1Gi"] if reported else []
    )
    assert not list(ignored_sizes(sized(size), {"spec": {}}))
