"""Who deploys the common instancetypes: virt-operator or the tasks of this collection."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from ..._resolver.api.kinds import BY_NAME
from ..._resolver.api.matcher import ROLES
from ..._resolver.api.write import merge_patch
from ..._resolver.catalog.labels import MANAGED_BY_LABEL, is_deployed
from ..._resolver.kubevirt.vmi.cluster import DEPLOYMENT, DEPLOYMENT_SINCE, deploys_instancetypes
from ..client.backoff import Backoff
from ..client.errors import ApiError, explain
from ..client.session import Session
from ..read.kubevirt import KUBEVIRT, kubevirt, kubevirt_object
from ..read.snapshot import Unreadable, list_all
from .engine import NO_DRY_RUN, WriteSettings, send

KEEP: Final = "keep"
FAIL: Final = "fail"
ENABLE: Final = "enable"
DISABLE: Final = "disable"
CHOICES: Final = (KEEP, FAIL, ENABLE, DISABLE)

# virt-operator deletes within seconds; it may be restarting.
_PATIENCE: Final = 120
# HyperConverged reverts changes of the KubeVirt object, and has the same field.
_HYPERCONVERGED: Final = "hco-operator"


class DeploymentRefused(Exception):
    """The task must not go on; the message is one line with the remedy."""


@dataclass(frozen=True)
class Deployment:
    """The deployment by virt-operator.

    enabled: whether virt-operator deploys the common instancetypes, None if unknown. changed: by the task.
    """

    enabled: bool | None
    changed: bool = False
    warnings: list[str] = field(default_factory=list)

    def as_data(self) -> dict[str, Any]:
        return {"enabled": self.enabled, "changed": self.changed}


def apply_deployment_option(session: Session, choice: str, settings: WriteSettings) -> Deployment:
    """Does what the option `common_instancetypes_deployment` says. Raises DeploymentRefused.

    After `disable`, nothing that virt-operator deployed is left, outside of check mode.
    """
    installed = kubevirt(session)
    enabled = deploys_instancetypes(installed)
    if choice == KEEP:
        return Deployment(enabled)
    if enabled is None:
        raise DeploymentRefused(f"common_instancetypes_deployment: {installed.assumption}")
    if choice == FAIL:
        if enabled:
            raise DeploymentRefused(
                "common_instancetypes_deployment: virt-operator deploys the common instancetypes; set it to enable or"
                " keep to leave them to virt-operator, or to disable to deploy them by this task"
            )
        return Deployment(enabled)
    enable = choice == ENABLE
    warnings = _set(session, enable, settings) if enabled != enable else []
    if not enable:
        warnings += _await_deletion(session, settings)
    return Deployment(enable, enabled != enable, warnings)


def _set(session: Session, enabled: bool, settings: WriteSettings) -> list[str]:
    """Sets the field of the KubeVirt object; in check mode by a dry run. Returns warnings."""
    live, release = kubevirt_object(session), kubevirt(session).release
    if live is None or not release.has(DEPLOYMENT_SINCE):
        raise DeploymentRefused(
            f"common_instancetypes_deployment: KubeVirt before {DEPLOYMENT_SINCE} has no"
            f" spec.configuration.{DEPLOYMENT}; set it to keep"
        )
    metadata = live["metadata"]
    if (metadata.get("labels") or {}).get(MANAGED_BY_LABEL) == _HYPERCONVERGED:
        raise DeploymentRefused(
            f"common_instancetypes_deployment: the HyperConverged operator reverts changes of the KubeVirt"
            f" {metadata['name']}; set spec.{DEPLOYMENT}.enabled of the HyperConverged object to"
            f" {'true' if enabled else 'false'}"
        )
    if settings.check_mode and not settings.server_dry_run:
        return []
    path = KUBEVIRT.path(metadata["namespace"], metadata["name"])
    patch = {"spec": {"configuration": {DEPLOYMENT: {"enabled": enabled}}}}
    client = session.dry_run_session() if settings.check_mode else session
    try:
        send(client, merge_patch(path, patch, fieldManager=session.field_manager))
    except ApiError as error:
        reason = explain(error, "PATCH", KUBEVIRT)
        if settings.check_mode and NO_DRY_RUN in error.message:
            return [f"the dry run could not check the KubeVirt object: {reason}"]
        raise DeploymentRefused(f"common_instancetypes_deployment: {reason}") from None
    return []


def _await_deletion(session: Session, settings: WriteSettings) -> list[str]:
    """Waits until virt-operator has deleted its objects, which it would not let others change. Returns warnings."""
    pauses = Backoff()
    while remaining := _deployed(session):
        if settings.check_mode:
            return [f"virt-operator deletes its {remaining} objects first; check mode shows them as left alone"]
        if not pauses.pause(_PATIENCE):
            raise DeploymentRefused(
                f"common_instancetypes_deployment: virt-operator has not deleted its {remaining} objects within"
                f" {_PATIENCE} seconds; see whether it runs (kubectl get deployment -A -l kubevirt.io=virt-operator),"
                " and run the task again"
            )
    return []


def _deployed(session: Session) -> int:
    """The number of objects that virt-operator has deployed."""
    try:
        deployed = [manifest for role in ROLES for manifest in list_all(session, BY_NAME[role.cluster_kind])]
    except Unreadable as error:
        raise DeploymentRefused(f"common_instancetypes_deployment: {error}") from None
    return sum(map(is_deployed, deployed))
