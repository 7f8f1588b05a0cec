"""Which requests meet which fault.

A rule is a mapping:

    fault        one of FAULTS
    methods      HTTP methods it is for; all without it
    path         regular expression, looked for in path and query; any without it
    rate         share of these requests, more than 0 and at most 1; 1 without it
    skip         how many of these requests it lets pass first; none without it
    times        how often it happens at most; no limit without it

and what its fault takes:

    latency      seconds, jitter: wait so long, and up to `jitter` seconds more, before the request is passed on
    status       status: answer with this HTTP status; retry_after: seconds, the header of that name;
                 when: `before` (the API server never sees the request) or `after` (it carried out the request)
    reset        when: as above; reset the connection instead of answering
    hold         when: as above; never answer, until the client gives up
    cut          after_bytes: end the connection in the middle of the body; half of it without the option
    truncate     after_bytes: likewise, but as if this were all: well-formed HTTP, no JSON
    slow         bytes_per_second: send the body no faster
    watch_cut    after_events: end the connection of a watch after so many events; immediately without it
    watch_gone   after_events: likewise, with the event that says that the resource version is too old (410)
    watch_twice  send each event of a watch twice

The first rule that meets a request decides; only latency lets the next ones have a look too. cut, truncate and slow are
for answers that end, those that begin with watch_ for watches.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from fault_proxy.request import RequestInfo

_PLACES = ("before", "after")
FAULTS: dict[str, dict[str, bool]] = {
    "latency": {"seconds": True, "jitter": False},
    "status": {"status": True, "retry_after": False, "when": False},
    "reset": {"when": False},
    "hold": {"when": False},
    "cut": {"after_bytes": False},
    "truncate": {"after_bytes": False},
    "slow": {"bytes_per_second": True},
    "watch_cut": {"after_events": False},
    "watch_gone": {"after_events": False},
    "watch_twice": {},
}
"""Fault → its options, and whether each is required."""
_COMMON = ("fault", "methods", "path", "rate", "skip", "times")
_OF_WATCHES = ("watch_cut", "watch_gone", "watch_twice")
_OF_BODIES = ("cut", "truncate", "slow")
_WHOLE = ("skip", "times", "retry_after", "after_bytes", "after_events")
_POSITIVE = ("seconds", "bytes_per_second")


class RuleError(ValueError):
    """Invalid rules; the text names rule, option, value and the remedy."""


class Rule(NamedTuple):
    """A checked rule. options: those of its fault."""

    fault: str
    methods: tuple[str, ...]
    path: re.Pattern[str]
    rate: float
    skip: int
    times: int | None
    options: Mapping[str, Any]

    def matches(self, request: RequestInfo) -> bool:
        """Whether the rule applies to this request, regardless of its rate."""
        if self.methods and request.method not in self.methods:
            return False
        if self.fault in _OF_WATCHES and not request.watches:
            return False
        if self.fault in _OF_BODIES and request.watches:
            return False
        return bool(self.path.search(request.target))


class Chosen(NamedTuple):
    """What happens to a request: seconds to wait, then perhaps a fault."""

    latency: float
    rule: Rule | None


class Faults:
    """Rules with their random numbers. The same seed and order of requests give the same faults."""

    def __init__(self, rules: list[Mapping[str, Any]], seed: int | None = None) -> None:
        """Raises RuleError."""
        if not isinstance(rules, list):
            raise RuleError("rules: expected a list, which may be empty")
        if seed is not None and (not isinstance(seed, int) or isinstance(seed, bool)):
            raise RuleError(f"seed: {seed!r} is not valid; write a whole number, or leave it out")
        self.rules = rules
        self.seed = seed
        self._parsed = [_rule(f"rules[{number}]", rule) for number, rule in enumerate(rules)]
        self._skipped = [0 for _rule in self._parsed]
        self._remaining = [rule.times for rule in self._parsed]
        self._random = random.Random(seed)

    def choose(self, request: RequestInfo) -> Chosen:
        """What happens to this request."""
        latency = 0.0
        for number, rule in enumerate(self._parsed):
            if not rule.matches(request):
                continue
            if self._skipped[number] < rule.skip:
                self._skipped[number] += 1
                continue
            if self._remaining[number] == 0 or self._random.random() >= rule.rate:
                continue
            remaining = self._remaining[number]
            self._remaining[number] = None if remaining is None else remaining - 1
            if rule.fault != "latency":
                return Chosen(latency, rule)
            latency += rule.options["seconds"] + self._random.uniform(0, rule.options.get("jitter", 0))
        return Chosen(latency, None)


def _rule(place: str, options: Any) -> Rule:
    if not isinstance(options, Mapping):
        raise RuleError(
            f"{place}: {options!r} is not a mapping; write a mapping such as {{fault: status, status: 503}}"
        )
    fault = options.get("fault")
    if fault not in FAULTS:
        raise RuleError(f"{place}.fault: {fault!r} is not a fault; use one of {', '.join(FAULTS)}")
    fault_options = FAULTS[fault]
    unknown = sorted(set(options) - set(_COMMON) - set(fault_options))
    if unknown:
        known = ", ".join((*_COMMON[1:], *fault_options))
        raise RuleError(f"{place}.{unknown[0]}: unknown option of the fault {fault}; use one of {known}")
    for option, required in fault_options.items():
        if required and option not in options:
            raise RuleError(f"{place}.{option}: required for the fault {fault}")
    for option, value in options.items():
        _check(f"{place}.{option}", option, value)
    return Rule(
        fault,
        tuple(method.upper() for method in options.get("methods") or ()),
        re.compile(options.get("path") or ""),
        float(options.get("rate", 1)),
        options.get("skip", 0),
        options.get("times"),
        {option: options[option] for option in fault_options if option in options},
    )


def _check(place: str, option: str, value: Any) -> None:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    integer = number and isinstance(value, int)
    if option == "methods":
        valid, expected = (
            isinstance(value, list) and all(isinstance(word, str) for word in value),
            "a list such as [PATCH]",
        )
    elif option == "path":
        valid, expected = _is_expression(value), "a regular expression"
    elif option == "rate":
        valid, expected = number and 0 < value <= 1, "more than 0 and at most 1"
    elif option == "status":
        valid, expected = integer and 400 <= value <= 599, "an HTTP status from 400 to 599"
    elif option == "when":
        valid, expected = value in _PLACES, f"one of {', '.join(_PLACES)}"
    elif option in _WHOLE:
        valid, expected = integer and value >= 0, "a whole number"
    elif option in _POSITIVE:
        valid, expected = number and value > 0, "a number above 0"
    elif option == "jitter":
        valid, expected = number and value >= 0, "a number of 0 or more"
    else:
        return  # fault
    if not valid:
        raise RuleError(f"{place}: {value!r} is not valid; write {expected}")


def _is_expression(value: Any) -> bool:
    try:
        re.compile(value)
    except (re.error, TypeError):
        return False
    return isinstance(value, str)
