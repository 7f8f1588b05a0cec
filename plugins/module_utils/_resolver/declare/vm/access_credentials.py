"""SSH keys and passwords that KubeVirt copies from Secrets into the guest and keeps up to date."""

from __future__ import annotations

from typing import Any, Final

from ...api.errors import FieldError
from ...api.tree import copy

Options = dict[str, Any]
Part = dict[str, Any]

_GUEST_AGENT: Final = "ga"
# Methods that need a cloud-init volume → its type.
_BY_CLOUD_INIT: Final = {"nocloud": "noCloud", "configdrive": "configDrive"}


def build(credentials: list[Options], cloud_init: Options | None) -> tuple[list[Part], Options | None]:
    """The credentials as the API has them, and the options of `cloud_init` with what they require.

    Keys through the guest agent need permission to write them; keys through cloud-init need a volume of the right type.
    Raises FieldError for an invalid credential.
    """
    wanted = copy(cloud_init) if cloud_init is not None else None
    built = []
    for index, credential in enumerate(credentials):
        path = f"access_credentials[{index}]"
        if not credential.get("secret"):
            raise FieldError(f"{path}.secret", "required; set it to the name of the Secret with the keys or passwords")
        if credential.get("type") == "password":
            built.append(_password(path, credential))
        else:
            part, wanted = _ssh(path, credential, wanted)
            built.append(part)
    return built, wanted


def _password(path: str, credential: Options) -> Part:
    method = credential.get("method") or _GUEST_AGENT
    if method != _GUEST_AGENT:
        raise FieldError(f"{path}.method", f"{method} does not work with passwords; use ga")
    _no_users(path, credential)
    return _credential("userPassword", credential, {"qemuGuestAgent": {}})


def _ssh(path: str, credential: Options, cloud_init: Options | None) -> tuple[Part, Options | None]:
    method = credential.get("method") or _GUEST_AGENT
    wanted = dict(cloud_init or {})
    if method == _GUEST_AGENT:
        users = credential.get("users") or [user for user in (wanted.get("user"),) if user]
        if not users:
            raise FieldError(f"{path}.users", "required; set users, or cloud_init.user, to the owners of the keys")
        if wanted.get("manage_ssh") is None:
            wanted["manage_ssh"] = True
        return _credential("sshPublicKey", credential, {"qemuGuestAgent": {"users": users}}), wanted
    _no_users(path, credential)
    if wanted.get("type") is None:
        wanted["type"] = method
    elif wanted["type"] != method:
        raise FieldError(
            f"{path}.method", f"is {method}, but cloud_init.type is {wanted['type']}; set both to the same type"
        )
    return _credential("sshPublicKey", credential, {_BY_CLOUD_INIT[method]: {}}), wanted


def _no_users(path: str, credential: Options) -> None:
    if any(credential.get("users") or []):
        raise FieldError(f"{path}.users", "only valid for SSH keys with the method ga; remove users")


def _credential(field: str, credential: Options, method: Part) -> Part:
    return {field: {"source": {"secret": {"secretName": credential["secret"]}}, "propagationMethod": method}}
