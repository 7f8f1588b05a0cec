"""Runs the cases of a group and tells what differs."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import ops
from bundles import Bundles
from cases import Case
from compare import differences

from _resolver.api.release import parse_release

_SHOWN_INPUT = 600


class Failure(NamedTuple):
    """A case that did not give KubeVirt gives; `reasons` has a line for each difference."""

    case: Case
    reasons: list[str]

    def __str__(self) -> str:
        given = json.dumps(self.case.input, separators=(",", ":"))
        if len(given) > _SHOWN_INPUT:
            given = f"{given[:_SHOWN_INPUT]} ..."
        lines = [f"{self.case.name} ({self.case.op})", f"  input: {given}", *(f"  {reason}" for reason in self.reasons)]
        return "\n".join(lines)


def failures(cases: list[Case], bundles: Bundles) -> Iterator[Failure]:
    """The failures among the cases, in their order."""
    for case in cases:
        reasons = _check(case, bundles)
        if reasons:
            yield Failure(case, reasons)


def _check(case: Case, bundles: Bundles) -> list[str]:
    if case.op not in (ops.RELEASE_OPS if case.release else ops.OPS):
        return [f"the op {case.op} is not implemented"]
    try:
        given = bundles.resolve(case.input)
        before = json.dumps(given)
        got = _answer(case, given)
    # The other cases run, whatever is wrong with one.
    except Exception as error:
        return [f"raised {type(error).__name__}: {error}"]
    changed = [] if json.dumps(given) == before else ["the input was changed"]
    if isinstance(case.expect, dict) and case.expect.get("panic"):
        return changed if _is_error(got) else [*changed, f"expected an error, got {json.dumps(got)}"]
    expect = case.expect
    if case.op == "expand":
        # The message names the conflicts, too.
        expect = {name: value for name, value in expect.items() if name != "conflicts"}
    return [
        *changed,
        *differences(expect, got),
        *_ignored(case, given),
    ]


def _answer(case: Case, given: Any) -> Any:
    return ops.RELEASE_OPS[case.op](given, parse_release(case.release)) if case.release else ops.OPS[case.op](given)


def _ignored(case: Case, given: Any) -> list[str]:
    """Whether the resolver knows which fields the release ignores."""
    if case.ignored is None:
        return []
    result = set(ops.ignored(case.op, given, parse_release(case.release)))
    return [f"ignored: {field}" for field in sorted(result ^ set(case.ignored))]


def _is_error(got: Any) -> bool:
    """Whether the answer is an error. If KubeVirt panics, any named error will do."""
    return isinstance(got, dict) and any(got.get(key) for key in ("panicText", "error", "message"))
