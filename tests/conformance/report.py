"""Runs the cases of a group and tells what differs."""

import json
import re
from collections.abc import Iterator
from typing import Any

import ops
from bundles import resolved
from cases import Case
from cases import groups as groups
from releases import load as load
from vector_run import Failure, differences, judged

from _resolver.api.release import parse_release

_GO_DECODER = re.compile(
    r"cannot unmarshal|quantities must match|unexpected type in ControllerRevision|failed to decode (object|old)"
)


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
    return [*changed, *differences(expect, got, is_same=_is_go_decoder), *_ignored(case, given)]


def _is_go_decoder(expected: Any, got: Any) -> bool | None:
    """Accepts any text in place of one of Go's decoder: ours names the field and the reason."""
    texts = isinstance(expected, str) and isinstance(got, str) and got
    return True if texts and _GO_DECODER.search(expected) else None


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
