"""The kinds of CDI, and the VolumeSnapshots that it clones. Only what decides something is in their schemas."""

from __future__ import annotations

from typing import Any, Final

from kubevirt_emulation.crd import AGE, FREE, Resource

_PHASE: Final = (("Phase", "string", ".status.phase"),)
# Metadata of a template has no schema, so the API server drops what is in it.
_CRON_SPEC: Final[dict[str, Any]] = {
    **FREE,
    "properties": {
        "template": {"type": "object", "properties": {"metadata": {"type": "object"}, "spec": FREE}, "nullable": True}
    },
}


def _kind(
    kind: str,
    short_names: tuple[str, ...],
    columns: tuple[tuple[str, str, str], ...] = (),
    group: str = "cdi.kubevirt.io",
    version: str = "v1beta1",
    namespaced: bool = True,
    status: bool = False,
    spec: dict[str, Any] | None = None,
) -> Resource:
    properties = {"spec": spec or FREE, "status": FREE}
    plural = kind.lower() + "s"
    columns = (*columns, AGE)
    return Resource(group, version, kind, plural, short_names, namespaced, status, (), columns, properties, ("spec",))


KINDS: Final = (
    _kind("DataVolume", ("dv", "dvs"), (*_PHASE, ("Progress", "string", ".status.progress")), status=True),
    _kind("DataSource", ("das",)),
    _kind("DataImportCron", ("dic", "dics"), spec=_CRON_SPEC),
    _kind("CDI", (), _PHASE, namespaced=False),
    _kind("CDIConfig", (), namespaced=False),
    _kind("VolumeSnapshot", ("vs",), group="snapshot.storage.k8s.io", version="v1"),
)
