"""Problems of a boot source that CDI accepts and does not report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from .._resolver.api import managed_fields
from .._resolver.api.finding import WARNING, Finding
from .._resolver.api.keys import BOOT_SOURCE_LABEL, MANAGED_BY_LABEL
from .._resolver.api.manifest import Manifest, Options, labels_of, name_of
from .._resolver.api.name_rules import first_names
from .._resolver.ownership.writers import REVERTED, WriterClaim, remedies, writer_of
from .source import CRON

Version = tuple[int, int, int]

_SSP: Final = "ssp-operator"
_HONORS: Final = "HonorWaitForFirstConsumer"
_MOST_MANAGERS: Final = 2


def release_notes(options: Options, labels: Mapping[str, str], release: Version) -> Iterator[Finding]:
    """Warns of options that a release of CDI does not support."""
    problems = []
    if options.get("schedule") is not None and labels and release < (1, 56, 0):
        problems.append("leaves the defaults of a cron to itself; upgrade to 1.56, or leave out schedule")
    if options.get("image") and not labels and not options["query_registry"] and release < (1, 59, 1):
        remedy = "set instancetype and preference, or query_registry: true, or upgrade to 1.59.1"
        problems.append(f"makes no labels of an image's environment; {remedy}")
    if options.get("architecture") and release < (1, 63, 0):
        problems.append("ignores architecture and imports for that of its importer; upgrade to 1.63")
    if options.get("url") and options.get("checksum") and release < (1, 65, 0):
        problems.append("does not check the checksum of a URL; upgrade to 1.65")
    return (Finding(f"CDI {'.'.join(map(str, release))} {problem}", WARNING) for problem in problems)


def binding_problem(options: Options, storage_class: Manifest | None, gates: object) -> str:
    """Why CDI would never fill a volume; "" if it would. gates: CDI's feature gates; it waits only with one of them."""
    late = storage_class is not None and storage_class.get("volumeBindingMode") == "WaitForFirstConsumer"
    if not late or options.get("force_bind") or not isinstance(gates, list) or _HONORS not in gates:
        return ""
    name = name_of(storage_class or {})
    return f"the StorageClass {name} binds a volume when a pod uses it, so CDI does not fill it; set force_bind: true"


def redirect_problem(options: Options, live: Manifest) -> str:
    """Why the task cannot redirect an existing DataSource for good; "" if it can."""
    name, cron = name_of(live), labels_of(live).get(CRON)
    if labels_of(live).get(MANAGED_BY_LABEL) == _SSP:
        return f"the SSP operator manages the DataSource {name}, and puts it back; choose another name"
    if options.get("schedule") is not None:
        if cron == options["name"]:
            return ""
        manager = f"the DataImportCron {cron} manages" if cron else "no DataImportCron has made"
        return f"{manager} the DataSource {name}, so CDI never moves it; delete the DataSource first"
    text = f"the DataImportCron {cron} manages the DataSource, and moves it back; delete the cron first"
    return text if cron else ""


def foreign_problem(name: str, kind: str, live: Manifest, own: str, takes_over: Callable[[str], bool]) -> str:
    """Why a boot source must not change or delete an existing object of its name; "" if it may.

    name: of the boot source. kind: of the object. own: our field manager. takes_over: whether the task takes over what
    a manager has made.
    """
    managers = dict.fromkeys(str(entry.get("manager")) for entry in managed_fields.entries(live))
    fields = (managed_fields.applied_fields(live, own) or set()) | managed_fields.updated_fields(live, own)
    is_own = name in (labels_of(live).get(BOOT_SOURCE_LABEL), labels_of(live).get(CRON)) or any(
        field[0] == "spec" for field in fields
    )
    if is_own or not managers or any(map(takes_over, managers)):
        return ""
    of_spec = [
        manager
        for manager, others in managed_fields.fields_of_others(live, own)
        if any(field[0] == "spec" for field in others)
    ]
    writer = writer_of(live)
    claim = "" if writer is None else f". {WriterClaim(writer).text(REVERTED)}"
    return (
        f"the {kind} {name_of(live)} exists and was not made for the boot source {name} (field managers:"
        f" {first_names(managers, _MOST_MANAGERS)}); choose another name, or set"
        f" {remedies(of_spec or managers, live)}{claim}"
    )


def replacement_problem(live: Manifest) -> str:
    """Why a task must not replace a DataImportCron: CDI would delete its imported images, too. "" if it may."""
    if live["spec"].get("retentionPolicy") != "None":
        return ""
    return (
        f"the DataImportCron {name_of(live)} has the retentionPolicy None: CDI would delete its images and its"
        " DataSource with it; delete it yourself, or choose another name"
    )


def overwritten(labels: Mapping[str, str], live: Manifest, content: Manifest | None) -> Iterator[str]:
    """Why labels of a DataSource will not last: CDI overwrites them with the labels of its claim and of its cron.

    live: the DataSource. content: its target, a claim or a snapshot.
    """
    existing = labels_of(content or {})
    differing = sorted(label for label, value in labels.items() if existing.get(label, value) != value)
    if differing:
        source = name_of(content or {})
        yield f"CDI writes other values of {', '.join(differing)} over these, from {source}; label that, too"
    if cron := labels_of(live).get(CRON):
        yield f"the DataImportCron {cron} makes the DataSource's labels; declare its defaults instead"
