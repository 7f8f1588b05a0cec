"""Cases of boot sources: read, given to the collection, compared.

A group is a file below the directory, such as ``webhook/datavolumes``; the folder says what answered. Everything is
compared as it is, messages included, but for uploads, of which `upload_cases` says it, and for the times at which a
schedule is due, which nothing here computes.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from zoneinfo import available_timezones

# The collection's upload is part of it, so it is imported by its full name; the parts of other runners by theirs.
sys.path[:0] = [str(Path(__file__).resolve().parents[1] / folder) for folder in ("conformance", "virtctl", "")]

import collection_path  # noqa: E402, F401  # pylint: disable=unused-import
import upload_cases  # noqa: E402
from compare import differences  # noqa: E402

from ansible_collections.virtshape.instancetypes.plugins.module_utils._boot_sources import cdi_parsers as texts  # noqa: E402
from ansible_collections.virtshape.instancetypes.plugins.module_utils._boot_sources import cdi_webhooks as admission  # noqa: E402
from ansible_collections.virtshape.instancetypes.plugins.module_utils._boot_sources import image  # noqa: E402
from ansible_collections.virtshape.instancetypes.plugins.module_utils._boot_sources.data_volume import Refusal  # noqa: E402
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.errors import (  # noqa: E402
    Cause,
    Panic,
)

Case = dict[str, Any]

_EXPECTED = ("expect",)
_SHOWN_INPUT = 900
_ZONES = available_timezones()


class Failure(NamedTuple):
    """A case that was not answered as CDI answers it; `reasons` has a line for each difference."""

    case: Case
    reasons: list[str]

    def __str__(self) -> str:
        given = json.dumps({name: value for name, value in self.case.items() if name not in _EXPECTED})
        if len(given) > _SHOWN_INPUT:
            given = f"{given[:_SHOWN_INPUT]} ..."
        return "\n".join([self.case["id"], f"  input: {given}", *(f"  {reason}" for reason in self.reasons)])


def groups(directory: Path) -> list[str]:
    """The names of all groups below a directory, sorted."""
    return sorted(file.relative_to(directory).with_suffix("").as_posix() for file in directory.rglob("*.jsonl"))


def load(directory: Path, group: str) -> list[Case]:
    """The cases of one group."""
    lines = (directory / f"{group}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def failures(group: str, cases: list[Case]) -> Iterator[Failure]:
    """The failures among the cases of a group, in their order."""
    answer = _ANSWERS[Path(group).parts[0]]
    for case in cases:
        before = json.dumps(case)
        try:
            reasons = list(differences(*answer(case)))
        # Whatever is wrong with one case, the others are still run.
        except Exception as error:
            reasons = [f"raised {type(error).__name__}: {error}"]
        if json.dumps(case) != before:
            reasons.append("the input was changed")
        if reasons:
            yield Failure(case, reasons)


def _comparable(expect: Case) -> Case:
    """A panic's text is Go's own."""
    panics = str(expect.get("error")).startswith("PANIC")
    return {**expect, "error": "PANIC"} if panics else expect


def _environment(case: Case) -> tuple[Case, Case]:
    return case["expect"], {"labels": image.labels(case["env"])}


def _schedule(case: Case) -> tuple[Case, Case]:
    expected = {name: value for name, value in case["expect"].items() if name != "next"}
    return _comparable(expected), _checked(case["schedule"])


def _checked(text: str) -> Case:
    try:
        texts.check_schedule(text, _ZONES)
    except texts.ScheduleError as error:
        return {"ok": False, "error": str(error)}
    except Panic:
        return {"ok": False, "error": "PANIC"}
    return {"ok": True}


def _webhook(case: Case) -> tuple[Case, Case]:
    return _comparable(case["expect"]), _review(case)


def _review(case: Case) -> Case:
    old = case["old"] if case["operation"] == "UPDATE" else None
    try:
        if case["resource"] == "dataimportcrons":
            refusal = admission.data_import_cron_refusal(case["object"], old, _ZONES)
        else:
            refusal = admission.data_volume_refusal(case["object"], old)
    except Panic:
        return {"error": "PANIC"}
    return _refusal(refusal)


def _refusal(refusal: Refusal | None) -> Case:
    if refusal is None:
        return {"allowed": True, "code": None, "message": None, "causes": None}
    causes = [_cause(cause) for cause in refusal.causes]
    return {"allowed": False, "code": refusal.code, "message": refusal.message, "causes": causes or None}


def _cause(cause: Cause) -> Case:
    answer = {"message": cause.message, "field": cause.field, "reason": cause.type}
    return {name: value for name, value in answer.items() if value}


_ANSWERS = {"env-to-label": _environment, "schedule": _schedule, "webhook": _webhook, "image-upload": upload_cases.run}
