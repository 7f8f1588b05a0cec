"""Cases of VirtualMachineTemplates: read, given to the resolver, compared.

A group is a file below the directory. Everything is compared as it is, messages included; README.md beside the vectors
says what they hold.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

# The parts of other runners are imported by their names.
sys.path[:0] = [str(Path(__file__).resolve().parents[1] / folder) for folder in ("virtctl", "")]

import collection_path  # noqa: E402, F401  # pylint: disable=unused-import
import yaml  # noqa: E402
from vector_run import Failure, differences, groups, judged, load  # noqa: E402, F401  # pylint: disable=unused-import

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api import go_json  # noqa: E402
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.release import NEWEST, parse_release  # noqa: E402
from ansible_collections.virtshape.instancetypes.plugins.module_utils._templates import conversion, parameters, process  # noqa: E402

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
    expected = _with_generated({name: value for name, value in expect.items() if name != "generated"}, values)
    expected["warnings"] = sorted(expected.get("warnings", ()))
    got["warnings"] = sorted(got.get("warnings", ()))
    reasons = list(differences(_any_order(expected), _any_order(got)))
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
    answer["error"] = _error(found.errors)
    answer["status"] = _status(found.errors)
    return answer


def _error(errors: tuple[process.TemplateError, ...]) -> Case:
    stage = errors[0].stage
    if stage == "merge":
        return {"stage": stage, "message": errors[0].message}
    entries = [_field_error(error) for error in errors]
    return {"stage": stage, "errors": entries} if stage == "references" else {"stage": stage, **entries[0]}


def _field_error(error: process.TemplateError) -> Case:
    return {"type": error.type, "field": error.field, "detail": error.detail, "message": error.message}


def _status(errors: tuple[process.TemplateError, ...]) -> Case:
    """The API server's Status object."""
    status: Case = {"status": "Failure", "metadata": {}, "details": {"name": "tpl"}}
    if errors[0].stage == "merge":
        message = f'Operation cannot be fulfilled on  "tpl": {errors[0].message}'
        return {**status, "code": 409, "reason": "Conflict", "message": message}
    messages = [error.message for error in errors]
    listed = f"[{', '.join(messages)}]" if len(messages) > 1 else messages[0]
    causes = [{"field": error.field, "message": error.body, "reason": error.type} for error in errors]
    details = {"name": "tpl", "causes": causes}
    return {**status, "code": 422, "reason": "Invalid", "message": f' "tpl" is invalid: {listed}', "details": details}


def _any_order(answer: Case) -> Case:
    """Errors of undefined references are in any order."""
    if "errors" not in answer.get("error", {}):
        return answer
    status, details = answer["status"], answer["status"]["details"]
    message = status["message"].removeprefix(' "tpl" is invalid: ')
    return {
        **answer,
        "error": {**answer["error"], "errors": sorted(answer["error"]["errors"], key=json.dumps)},
        "status": {
            **status,
            "message": _parts(message),
            "details": {**details, "causes": sorted(details["causes"], key=json.dumps)},
        },
    }


def _parts(message: str) -> list[str]:
    """The errors of a message that may have several, in any order."""
    return sorted(message[1:-1].split(", ")) if message.startswith("[") else [message]


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
    matches = process.review(case["input"]["template"])
    message = _denial(matches)
    got = {"allowed": not message, "message": _parts(message), "warnings": sorted(matches.warnings)}
    result = []
    for answer in case["expect"].get("any_of", [case["expect"]]):
        expected = {
            "allowed": answer["allowed"],
            "message": _parts(_with_values(answer.get("message", ""), message, matches.generated or {})),
            "warnings": sorted(answer.get("warnings", ())),
        }
        result.append(list(differences(expected, got)))
    return [] if [] in result else result[0]


def _denial(processed: process.Processed) -> str:
    """The webhook's message for what `process.review` found; "" if it lets the template pass."""
    before = "processing validation failed: " if any(error.stage == "process" for error in processed.errors) else ""
    messages = [error.message for error in processed.errors]
    return before + (f"[{', '.join(messages)}]" if len(messages) > 1 else "".join(messages))


def _with_values(wanted: str, got: str, generated: Mapping[str, str]) -> str:
    """The expected message with our generated values in place of those that were recorded."""
    pattern = re.escape(got)
    for value in generated.values():
        pattern = pattern.replace(re.escape(value), f".{{{len(value)}}}")
    return got if re.fullmatch(pattern, wanted, re.DOTALL) else wanted


def _generate(case: Case) -> list[str]:
    expect = case["expect"]
    tries = next((int(key.rpartition("_")[2]) for key in expect if key.startswith("distinct_in_")), 1)
    try:
        drawn = [parameters.generate(case["input"]["from"], f"{_SEED} {index}") for index in range(tries)]
    except parameters.ExpressionError as error:
        return list(differences(expect, {"error": str(error)}))
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
    try:
        given = case["input"]
        template = _first_document(given["text"]) if "text" in given else given["template"]
        got: Case = {"template": conversion.convert(template)}
    except conversion.ConversionError as error:
        got = {"error": str(error)}
    return list(differences(case["expect"], got))


def _first_document(text: str) -> Any:
    """A file as virtctl reads it. Raises ConversionError with its message."""
    if not text:
        raise conversion.ConversionError("error decoding Template: EOF")
    try:
        document = next(yaml.load_all(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)), None)
    except yaml.MarkedYAMLError as error:
        line = (error.context_mark and error.context_mark.line) or (error.problem_mark and error.problem_mark.line)
        line = (line or 0) + isinstance(error, yaml.scanner.ScannerError)
        where = f"line {line}: " if line else ""
        raise conversion.ConversionError(
            f"error decoding Template: error converting YAML to JSON: yaml: {where}{error.problem}"
        ) from error
    if document is None:
        return {}
    if not isinstance(document, dict):
        kind = "array" if isinstance(document, list) else "string"
        raise conversion.ConversionError(
            "error decoding Template: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal"
            f" {kind} into Go value of type v1.Template"
        )
    return _with_text_keys(document)


def _with_text_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key if isinstance(key, str) else go_json.write(key): _with_text_keys(entry) for key, entry in value.items()
        }
    return [_with_text_keys(entry) for entry in value] if isinstance(value, list) else value


_JUDGES = {"process": _process, "validate": _validate, "generate": _generate, "convert": _convert}
