"""Runs the cases of a group and tells what differs."""

import json
from collections.abc import Iterator
from typing import Any

import ops
from bundles import resolved
from cases import Case
from cases import groups as groups
from releases import load as load
from vector_run import Failure, differences, judged

from _resolver.api.release import parse_release


def failures(_group: str, cases: list[Case]) -> Iterator[Failure]:
    """The failures among the cases, in their order."""
    return judged(cases, _reasons, lambda case: (f"{case.name} ({case.op})", case.input))


def _reasons(case: Case) -> list[str]:
    if case.op not in (ops.RELEASE_OPS if case.release else ops.OPS):
        return [f"the op {case.op} is not implemented"]
    given = resolved(case.input)
    before = json.dumps(given)
    got = _answer(case, given)
    changed = [] if json.dumps(given) == before else ["the input was changed"]
    if isinstance(case.expect, dict) and case.expect.get("panic"):
        return changed if _is_error(got) else [*changed, f"expected an error, got {json.dumps(got)}"]
    expect = case.expect
    if case.op == "expand":
        # The message names the conflicts, too.
        expect = {name: value for name, value in expect.items() if name != "conflicts"}
    return [*changed, *differences(expect, got), *_ignored(case, given)]


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
