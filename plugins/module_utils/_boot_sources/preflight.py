"""Problems of a boot source that CDI accepts and does not report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from .._resolver.api.manifest import Manifest, Options
from .source import CRON

Version = tuple[int, int, int]

_CRON_LABELS: Final = (1, 56, 0)
_ENVIRONMENT: Final = (1, 59, 1)
_ARCHITECTURE: Final = (1, 63, 0)
_CHECKSUM: Final = (1, 65, 0)
_MANAGED_BY: Final = "app.kubernetes.io/managed-by"
_SSP: Final = "ssp-operator"
_HONORS: Final = "HonorWaitForFirstConsumer"


def release_notes(options: Options, labels: Mapping[str, str], release: Version) -> Iterator[str]:
    """Lists the options that a release of CDI does not support."""
    version = ".".join(map(str, release))
    if options.get("schedule") is not None and labels and release < _CRON_LABELS:
        yield f"CDI {version} leaves the defaults of a cron to itself; upgrade to 1.56, or leave out schedule"
    if options.get("image") and not labels and not options["query_registry"] and release < _ENVIRONMENT:
        yield (
            f"CDI {version} makes no labels of an image's environment; set instancetype and preference, or"
            " query_registry: true, or upgrade to 1.59.1"
        )
    if options.get("architecture") and release < _ARCHITECTURE:
        yield f"CDI {version} ignores architecture and imports for that of its importer; upgrade to 1.63"
    if options.get("url") and options.get("checksum") and release < _CHECKSUM:
        yield f"CDI {version} does not check the checksum of a URL; upgrade to 1.65"


def binding_problem(options: Options, storage_class: Manifest | None, gates: object) -> str:
    """Why CDI would never fill a volume. gates: the feature gates of CDI; without that one it does not wait."""
    late = (storage_class or {}).get("volumeBindingMode") == "WaitForFirstConsumer"
    if not late or storage_class is None or options.get("force_bind") or not isinstance(gates, list):
        return ""
    if _HONORS not in gates:
        return ""
    name = storage_class["metadata"]["name"]
    return f"the StorageClass {name} binds a volume when a pod uses it, so CDI does not fill it; set force_bind: true"


def redirect_problem(options: Options, live: Manifest) -> str:
    """Why the task cannot redirect an existing DataSource, or another controller would redirect it back."""
    name, labels = live["metadata"]["name"], live["metadata"].get("labels") or {}
    if labels.get(_MANAGED_BY) == _SSP:
        return f"the SSP operator manages the DataSource {name}, and puts it back; choose another name"
    cron = labels.get(CRON)
    if options.get("schedule") is None:
        return (
            f"the DataImportCron {cron} manages the DataSource, and moves it back; delete the cron first"
            if cron
            else ""
        )
    if cron == options["name"]:
        return ""
    manager = f"the DataImportCron {cron} manages" if cron else "no DataImportCron has made"
    return f"{manager} the DataSource {name}, so CDI never moves it; delete the DataSource first"


def replacement_problem(live: Manifest) -> str:
    """Why a task must not replace a DataImportCron, "" if it may: CDI deletes with it what it has imported."""
    if live["spec"].get("retentionPolicy") != "None":
        return ""
    return (
        f"the DataImportCron {live['metadata']['name']} has the retentionPolicy None: CDI would delete its images and"
        " its DataSource with it; delete it yourself, or choose another name"
    )


def overwritten(labels: Mapping[str, str], live: Manifest, content: Manifest | None) -> Iterator[str]:
    """Why labels of a DataSource will not last: CDI overwrites them with the labels of its claim and of its cron.

    live: the DataSource. content: its target, a claim or a snapshot.
    """
    metadata = (content or {}).get("metadata") or {}
    content_labels = metadata.get("labels") or {}
    differing = sorted(
        label for label, value in labels.items() if label in content_labels and content_labels[label] != value
    )
    if differing:
        yield f"CDI writes other values of {', '.join(differing)} over these, from {metadata['name']}; label that, too"
    cron = (live["metadata"].get("labels") or {}).get(CRON)
    if cron:
        yield f"the DataImportCron {cron} makes the DataSource's labels; declare its defaults instead"
