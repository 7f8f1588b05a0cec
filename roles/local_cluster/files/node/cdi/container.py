"""What a container of CDI is given: its environment, and the certificates that are mounted into it."""

from __future__ import annotations

import base64
from typing import Any, Final

from node.api.client import ApiError, Client
from node.api.resources import CONFIG_MAP, SECRET
from node.cdi.registry import Access

Manifest = dict[str, Any]

_CERTIFICATES: Final = (".crt", ".pem")


async def environment(client: Client, pod: Manifest, container: Manifest) -> dict[str, str]:
    """The environment of a container; what Secrets are to give and have not is left out."""
    values = {}
    for entry in container.get("env") or []:
        reference = (entry.get("valueFrom") or {}).get("secretKeyRef")
        if reference is None:
            values[entry["name"]] = entry.get("value", "")
            continue
        secret = await client.get(SECRET, pod["metadata"]["namespace"], reference["name"])
        value = (secret.get("data") or {}).get(reference["key"])
        if value is not None:
            values[entry["name"]] = base64.b64decode(value).decode()
    return values


async def certificates(client: Client, pod: Manifest, container: Manifest, folder: str) -> str:
    """The certificates of the ConfigMap that is mounted at a folder; "" without one."""
    mounts = container.get("volumeMounts") or []
    names = [entry["name"] for entry in mounts if folder and entry["mountPath"].rstrip("/") == folder.rstrip("/")]
    for volume in pod["spec"].get("volumes") or []:
        if volume["name"] not in names or not volume.get("configMap"):
            continue
        try:
            config_map = await client.get(CONFIG_MAP, pod["metadata"]["namespace"], volume["configMap"]["name"])
        except ApiError as error:
            if error.code == 404 and volume["configMap"].get("optional"):
                continue
            raise
        return _text_of(config_map)
    return ""


def access(values: dict[str, str], trusted: str) -> Access:
    """Who reads a registry, as the environment says. trusted: certificates."""
    user, password = values.get("IMPORTER_ACCESS_KEY_ID"), values.get("IMPORTER_SECRET_KEY")
    login = (user, password) if user and password is not None else None
    return Access(login, trusted, values.get("INSECURE_TLS", "").lower() == "true")


def _text_of(config_map: Manifest) -> str:
    texts = [text for name, text in (config_map.get("data") or {}).items() if name.endswith(_CERTIFICATES)]
    encoded = (config_map.get("binaryData") or {}).items()
    texts += [base64.b64decode(text).decode() for name, text in encoded if name.endswith(_CERTIFICATES)]
    return "\n".join(texts)
