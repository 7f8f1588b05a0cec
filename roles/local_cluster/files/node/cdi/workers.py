"""Which program runs in a pod of CDI. Its controllers make the pods; here they are recognized."""

from __future__ import annotations

from typing import Any, Final

from node.api.client import Client
from node.cdi import importer, poller
from node.cdi.uploads import Uploads
from node.guests.store import Store
from node.kubelet.programs import Outcome, Program

Manifest = dict[str, Any]

_LABEL: Final = "cdi.kubevirt.io"
_SIZE_DETECTION: Final = "/usr/bin/cdi-image-size-detection"
_IMAGE_SERVER: Final = "/shared/server"


class Workers:
    """All programs. client: may do what the pods' service accounts may. store: what claims hold; None for nothing."""

    def __init__(self, client: Client, uploads: Uploads, store: Store | None = None) -> None:
        self._client = client
        self._uploads = uploads
        self._store = store

    def find(self, pod: Manifest) -> Program | None:
        """The program of a pod; None for one that is not of CDI."""
        command = (pod["spec"]["containers"][0].get("command") or [""])[0]
        if command == poller.COMMAND:
            return lambda: poller.run(self._client, pod)
        if command == _SIZE_DETECTION:
            return lambda: _say("0")
        if command == _IMAGE_SERVER:
            return lambda: poller.run_image(self._client, pod)
        component = (pod["metadata"].get("labels") or {}).get(_LABEL)
        if component == "importer":
            return lambda: importer.run(self._client, pod, self._store)
        if component == "cdi-upload-server":
            return lambda: self._uploads.serve(pod)
        if component == "cdi-clone-source":
            return lambda: self._uploads.send(pod)
        if component == "cdi-populator-prep":
            return lambda: _say("")
        return None


async def _say(text: str) -> Outcome:
    return Outcome(0, text)
