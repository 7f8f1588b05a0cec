"""Cases of boot sources: read, given to the collection, compared.

A group is a file below the directory, such as ``webhook/datavolumes``; the folder says what answered. Everything is
compared as it is, messages included, but for uploads, of which `upload_cases` says it, and for the times at which a
schedule is due, which nothing here computes.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zoneinfo import available_timezones

# The collection's upload is part of it, so it is imported by its full name; the parts of other runners by theirs.
sys.path[:0] = [str(Path(__file__).resolve().parents[1] / folder) for folder in ("virtctl", "")]

import collection_path  # noqa: E402, F401  # pylint: disable=unused-import
import upload_cases  # noqa: E402
from vector_run import Failure, differences, groups, judged, load  # noqa: E402, F401  # pylint: disable=unused-import

from ansible_collections.virtshape.instancetypes.plugins.module_utils._boot_sources import cdi_parsers as texts  # noqa: E402
from ansible_collections.virtshape.instancetypes.plugins.module_utils._boot_sources import cdi_webhooks as admission  # noqa: E402
from ansible_collections.virtshape.instancetypes.plugins.module_utils._boot_sources import image  # noqa: E402
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.errors import (  # noqa: E402
    Cause,
    Panic,
)

Case = dict[str, Any]

_ZONES = available_timezones()


def failures(group: str, cases: list[Case]) -> Iterator[Failure]:
    """The failures among the cases of a group, in their order."""
    answer = _ANSWERS[Path(group).parts[0]]
    return judged(cases, lambda case: differences(*answer(case)), lambda case: (case["id"], _asked(case)))


def _asked(case: Case) -> Case:
    return {name: value for name, value in case.items() if name != "expect"}


def _comparable(expect: Case) -> Case:
    """A panic's text is Go's own."""
    panics = str(expect.get("error")).startswith("PANIC")
    return {**expect, "error": "PANIC"} if panics else expect


def _environment(case: Case) -> tuple[Case, Case]:
    return case["expect"], {"labels": image.labels(case["env"])}


def _schedule(case: Case) -> tuple[Case, Case]:
    # CDI's webhook says only that a schedule is none.
    expected = _comparable(case["expect"])
    panics = {"error": "PANIC"} if expected.get("error") == "PANIC" else {}
    return {"ok": expected["ok"], **panics}, _checked(case["schedule"])


def _checked(text: str) -> Case:
    try:
        return {"ok": texts.is_schedule(text, _ZONES)}
    except Panic:
        return {"ok": False, "error": "PANIC"}


def _webhook(case: Case) -> tuple[Case, Case]:
    old = case["old"] if case["operation"] == "UPDATE" else None
    try:
        if case["resource"] == "dataimportcrons":
            refusal = admission.data_import_cron_refusal(case["object"], old, _ZONES)
        else:
            refusal = admission.data_volume_refusal(case["object"], old)
    except Panic:
        return _comparable(case["expect"]), {"error": "PANIC"}
    actual: Case = {"allowed": refusal is None, "code": None, "message": None, "causes": None}
    if refusal is not None:
        causes = [_cause(cause) for cause in refusal.causes] or None
        actual.update(code=refusal.code, message=refusal.message, causes=causes)
    return _comparable(case["expect"]), actual


def _cause(cause: Cause) -> Case:
    answer = {"message": cause.message, "field": cause.field, "reason": cause.type}
    return {name: value for name, value in answer.items() if value}


_ANSWERS = {"env-to-label": _environment, "schedule": _schedule, "webhook": _webhook, "image-upload": upload_cases.run}
