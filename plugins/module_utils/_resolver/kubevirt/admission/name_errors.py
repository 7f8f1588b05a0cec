"""Kubernetes' rules for names (k8s.io/apimachinery/pkg/util/validation). All functions list the errors."""

from __future__ import annotations

import re
from typing import Final

from ...api.name_rules import LABEL, LONGEST_LABEL, LONGEST_SUBDOMAIN, QUALIFIED, SUBDOMAIN

_LABEL_VALUE: Final = f"({QUALIFIED})?"


def dns_label(name: str) -> list[str]:
    """IsDNS1123Label."""
    if re.fullmatch(SUBDOMAIN, name) and "." in name:
        return [*_length(name, LONGEST_LABEL), "must not contain dots"]
    rule = (
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start "
        "and end with an alphanumeric character"
    )
    return [*_length(name, LONGEST_LABEL), *_mismatch(name, rule, LABEL, "my-name", "123-abc")]


def dns_subdomain(name: str) -> list[str]:
    """IsDNS1123Subdomain."""
    rule = (
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
        "and end with an alphanumeric character"
    )
    return [*_length(name, LONGEST_SUBDOMAIN), *_mismatch(name, rule, SUBDOMAIN, "example.com")]


def qualified(name: str) -> list[str]:
    """IsQualifiedName: the key of a label, such as `example.com/name`."""
    rule = (
        "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
        "character"
    )
    form = _regex_error(rule, QUALIFIED, "MyName", "my.name", "123-abc")
    *prefix, last = name.split("/")
    if len(prefix) > 1:
        optional = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return [f"a qualified name {form} {optional}"]
    errors: list[str] = []
    if prefix:
        errors += [f"prefix part {text}" for text in (dns_subdomain(prefix[0]) if prefix[0] else ["must be non-empty"])]
    errors += [f"name part {text}" for text in (_length(last, LONGEST_LABEL) if last else ["must be non-empty"])]
    if not re.fullmatch(QUALIFIED, last):
        errors.append(f"name part {form}")
    return errors


def label_value(value: str) -> list[str]:
    """IsValidLabelValue."""
    rule = (
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start "
        "and end with an alphanumeric character"
    )
    return [*_length(value, LONGEST_LABEL), *_mismatch(value, rule, _LABEL_VALUE, "MyValue", "my_value", "12345")]


def _length(name: str, maximum: int) -> list[str]:
    return [f"must be no more than {maximum} characters"] if len(name.encode()) > maximum else []


def _mismatch(text: str, rule: str, expression: str, *examples: str) -> list[str]:
    return [] if re.fullmatch(expression, text) else [_regex_error(rule, expression, *examples)]


def _regex_error(rule: str, expression: str, *examples: str) -> str:
    """RegexError."""
    formatted = " or ".join(f"'{example}', " for example in examples)
    return f"{rule} (e.g. {formatted}regex used for validation is '{expression}')"
