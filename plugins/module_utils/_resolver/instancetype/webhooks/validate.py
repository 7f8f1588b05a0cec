"""The responses of KubeVirt's validating webhooks to manifests of any kind."""

from __future__ import annotations

from typing import Any

from ...api import release_schema, unmarshal
from ...api.errors import FieldError
from ...api.matcher import INSTANCETYPE, ROLE_OF_KIND
from ...api.release import NEWEST, Release
from ..find.lookup import Lookup
from ..vmi.configuration import Configuration
from .admission import Response, allowed, bad_request
from .validate_types import instancetype, preference
from .validate_vm import virtual_machine

Manifest = dict[str, Any]


def validate(
    kind: str,
    manifest: Manifest,
    objects: Lookup,
    operation: str = "CREATE",
    config: Configuration | None = None,
    release: Release = NEWEST,
) -> Response:
    """The webhook's response to a plain manifest. kind: VirtualMachine, or an instancetype or preference.

    objects: looks up a VM's instancetype, preference and revisions. operation: others than CREATE and UPDATE are
    allowed. config: the cluster's, for a VM. Raises KeyError for another kind.
    """
    role = None if kind == "VirtualMachine" else ROLE_OF_KIND[kind]
    if operation not in ("CREATE", "UPDATE"):
        return allowed()
    type_name = kind if role is None else role.kind
    try:
        canonical = release_schema.canonical(type_name, manifest, release)
    except FieldError as error:
        return bad_request(unmarshal.message(type_name, manifest, kind) or str(error))
    if role is None:
        return virtual_machine(canonical, objects, config or Configuration(), release)
    return (instancetype if role is INSTANCETYPE else preference)(canonical["spec"], release)
