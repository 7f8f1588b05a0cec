"""Simulates CDI's poller of sources: tells a DataImportCron what digest its image has."""

from __future__ import annotations

from typing import Any, Final

from node.api.client import ApiError, Client
from node.api.clock import now
from node.api.resources import IMPORT_CRON
from node.cdi import container as containers
from node.cdi import registry
from node.cdi.registry import PullFailed
from node.kubelet.programs import Outcome

Manifest = dict[str, Any]

COMMAND: Final = "/usr/bin/cdi-source-update-poller"
_DIGEST: Final = "cdi.kubevirt.io/storage.import.sourceDesiredDigest"
_TIME: Final = "cdi.kubevirt.io/storage.import.lastCronTime"


async def run(client: Client, pod: Manifest) -> Outcome:
    """The program of a poller pod."""
    main = pod["spec"]["containers"][0]
    options = arguments(main["command"])
    values = await containers.environment(client, pod, main)
    trusted = await containers.certificates(client, pod, main, options.get("certdir", ""))
    try:
        image = await registry.read(options["url"], "", containers.access(values, trusted))
    except PullFailed as error:
        return Outcome(1, f"Failed to get image digest: failed to pull image: {error}")
    annotations = {_DIGEST: image.digest, _TIME: now()}
    try:
        await client.patch(IMPORT_CRON, options["ns"], options["cron"], {"metadata": {"annotations": annotations}})
    except ApiError as error:
        return Outcome(1, f"Failed updating DataImportCron {options['ns']}/{options['cron']}: {error}")
    return Outcome(0, f"Digest is {image.digest}")


def arguments(command: list[str]) -> dict[str, str]:
    """``-NAME VALUE`` pairs after the name of the program."""
    rest = iter(command[1:])
    return {name.lstrip("-"): value for name, value in zip(rest, rest)}


async def run_image(_client: Client, pod: Manifest) -> Outcome:
    """The pod by which CDI learns the digest of an image that nodes pull: only its imageID counts."""
    name = pod["spec"]["containers"][0]["image"]
    try:
        image = await registry.read(name, "", registry.Access())
    except PullFailed as error:
        return Outcome(1, str(error), reason="ErrImagePull")
    repository, _at, _digest = name.partition("@")
    return Outcome(0, "", image_id=f"{repository}@{image.digest}")
