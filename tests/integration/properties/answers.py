"""The server's answers to VMs that are not kept."""

import re
from typing import Any

from plugins.module_utils._cluster.client.errors import ApiError
from plugins.module_utils._cluster.client.session import Session
from plugins.module_utils._resolver.api.kinds import KINDS
from virt_api.answer import Answer

Manifest = dict[str, Any]

_DENIED = re.compile(r'admission webhook "([^"]+)" denied the request: ')


def ask(session: Session, manifest: Manifest, changes: bool = False) -> Answer:
    """The result of a dry run that creates or changes an object."""
    metadata, kind = manifest["metadata"], KINDS[manifest["kind"]]
    path = kind.path(metadata["namespace"], metadata["name"] if changes else None)
    try:
        while True:
            if changes:
                version = session.request("GET", path)["metadata"]["resourceVersion"]
                manifest = {**manifest, "metadata": {**metadata, "resourceVersion": version}}
            try:
                # A request that makes virt-api crash does so again.
                return Answer(
                    session.request("PUT" if changes else "POST", path, {"dryRun": "All"}, manifest, final=(500,))
                )
            except ApiError as error:
                # virt-controller was faster.
                if not changes or error.code != 409:
                    raise
    except ApiError as error:
        denied = _DENIED.match(error.message)
        messages = [error.message[denied.end() if denied else 0 :], *(cause.message for cause in error.causes)]
        words = tuple(" ".join(message.split()) for message in messages)
        fields = tuple(cause.field for cause in error.causes)
        return Answer(None, error.code, denied[1] if denied else "", words, fields)
