"""Cases of VirtualMachineTemplates: read, given to the resolver, compared.

A group is a file below the directory. Compared are whether a template is refused, for which field, the warnings, and
all that is made of it; the words of a refusal are our own. README.md beside the vectors says what they hold.
"""

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

# The parts of other runners are imported by their names.
sys.path[:0] = [str(Path(__file__).resolve().parents[1] / folder) for folder in ("virtctl", "")]

import collection_path  # noqa: E402, F401  # pylint: disable=unused-import
import yaml  # noqa: E402
from vector_run import Failure, differences, groups, judged, load  # noqa: E402, F401  # pylint: disable=unused-import

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.errors import FieldError  # noqa: E402
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.release import NEWEST, parse_release  # noqa: E402
from ansible_collections.virtshape.instancetypes.plugins.module_utils._templates import (  # noqa: E402
    conversion,
    go_json,
    parameters,
    process,
)

Case = dict[str, Any]

# The types that virt-template's API server is built with.
_SERVER = parse_release("1.8.0")
_SEED = "of the tests"


def failures(_group: str, cases: list[Case]) -> Iterator[Failure]:
    """The failures among cases, in their order."""
    return judged(cases, lambda case: _JUDGES[case["kind"]](case), lambda case: (_title(case), case["input"]))


def _title(case: Case) -> str:
    return f"{case['id']}: {case['about']}"


def _process(case: Case) -> list[str]:
    expected = {_SERVER: case["expect"]}
    if "expect_virtctl_1_9" in case:
        # Only the VM is recorded.
        expected[NEWEST] = {**case["expect"], **case["expect_virtctl_1_9"]}
    reasons: list[str] = []
    for release, expect in expected.items():
        matches = process.process(case["input"]["template"], case["input"]["parameters"], _SEED, release)
        answers = expect.get("any_of", [expect])
        if expect.get("varies"):
            # Only its shape is known: numbers are drawn anew.
            answers = [_without_numbers(expect["example"])]
        result = [_compare(answer, matches, bool(expect.get("varies"))) for answer in answers]
        reasons += [] if [] in result else result[0]
    return reasons


def _compare(expect: Case, found: process.Processed, varies: bool) -> list[str]:
    got = _without_numbers(_answer(found)) if varies else _answer(found)
    values = found.generated or {}
    wanted = {name: value for name, value in expect.items() if name not in ("generated", "error", "status")}
    expected = _with_generated({**wanted, **({"refused": True} if "error" in expect else {})}, values)
    expected["warnings"] = sorted(expected.get("warnings", ()))
    got["warnings"] = sorted(got.get("warnings", ()))
    reasons = [*differences(expected, got), *_field_reasons(expect, found.errors)]
    for name, pattern in expect.get("generated", {}).items():
        if not re.fullmatch(pattern, values.get(name, ""), re.ASCII):
            reasons.append(f"generated.{name}: expected a match of {pattern}, got {values.get(name)!r}")
    return reasons


def _answer(found: process.Processed) -> Case:
    """The result in the form of the vectors."""
    answer: Case = {"warnings": list(found.warnings)}
    if found.substituted is not None:
        answer["substituted"] = found.substituted
    if not found.errors:
        return {**answer, "vm": found.vm, "message": found.message}
    answer["refused"] = True
    return answer


def _field_reasons(expect: Case, errors: Sequence[FieldError]) -> Iterator[str]:
    """The differences in the fields that are refused: ours may be below those of virt-template."""
    error = expect.get("error", {})
    for field in sorted({entry["field"] for entry in error.get("errors", [error]) if entry.get("field")}):
        # Its webhook has read the VM as raw JSON before.
        wanted = field.removesuffix(".raw")
        if errors and not any(f"{entry.path}.".startswith(f"{wanted}.") for entry in errors):
            yield f"field: expected {wanted}, got {', '.join(entry.path for entry in errors)}"


def _with_generated(value: Any, values: Any) -> Any:
    """The expectation with the generated values in their places."""
    if isinstance(value, list):
        return [_with_generated(entry, values) for entry in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"$concat"}:
        return "".join(part if isinstance(part, str) else values[part["generated"]] for part in value["$concat"])
    if value.keys() == {"$entries"}:
        return {_with_generated(key, values): _with_generated(entry, values) for key, entry in value["$entries"]}
    return {key: _with_generated(entry, values) for key, entry in value.items()}


def _without_numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_numbers(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_without_numbers(entry) for entry in value]
    return "a number" if isinstance(value, (int, float)) and not isinstance(value, bool) else value


def _validate(case: Case) -> list[str]:
    matches = process.validate(case["input"]["template"])
    got = {"allowed": not matches.errors, "warnings": sorted(matches.warnings)}
    result = [
        list(differences({"allowed": answer["allowed"], "warnings": sorted(answer.get("warnings", ()))}, got))
        for answer in case["expect"].get("any_of", [case["expect"]])
    ]
    return [] if [] in result else result[0]


def _generate(case: Case) -> list[str]:
    expect = case["expect"]
    tries = next((int(key.rpartition("_")[2]) for key in expect if key.startswith("distinct_in_")), 1)
    try:
        drawn = [parameters.generate(case["input"]["from"], f"{_SEED} {index}") for index in range(tries)]
    except FieldError as error:
        return [] if "error" in expect else [f"refused: {error}"]
    if "error" in expect:
        return [f"expected the error {expect['error']!r}, got {drawn[0]!r}"]
    reasons = [
        f"expected {expect['length']} characters that match {expect['regex']}, got {text!r}"
        for text in drawn
        if len(text) != expect["length"] or not re.fullmatch(expect["regex"], text)
    ]
    expected, got = expect[f"distinct_in_{tries}"], len(set(drawn))
    # The number of different results is chance, but for one and all.
    if (expected == 1) is not (got == 1) or abs(got - expected) > 0.2 * tries:
        reasons.append(f"expected about {expected} different values in {tries}, got {got}")
    return reasons[:5]


def _convert(case: Case) -> list[str]:
    expect = case["expect"]
    try:
        given = case["input"]
        template = _first_document(given["text"]) if "text" in given else given["template"]
        got = conversion.convert(template)
    except (FieldError, yaml.YAMLError) as error:
        return [] if "error" in expect else [f"refused: {error}"]
    return list(differences(expect, {"template": got}))


def _first_document(text: str) -> Any:
    """The first document of a file, as virtctl reads it. Raises FieldError, and the errors of YAML."""
    if not text:
        raise FieldError("", "an empty file")
    document = next(yaml.load_all(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)), None)
    if document is not None and not isinstance(document, dict):
        raise FieldError("", "no object")
    return _with_text_keys(document or {})


def _with_text_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key if isinstance(key, str) else go_json.write(key): _with_text_keys(entry) for key, entry in value.items()
        }
    return [_with_text_keys(entry) for entry in value] if isinstance(value, list) else value


_JUDGES = {"process": _process, "validate": _validate, "generate": _generate, "convert": _convert}
