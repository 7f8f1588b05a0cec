"""Names, labels and short texts that Kubernetes accepts (k8s.io/apimachinery ``pkg/util/validation``).

Each check returns what is wrong with a text, as words to follow the quoted text, or "". Only ASCII counts; `fullmatch`,
because `$` would accept a line break.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import Any, Final

from ..secrets.redaction import HIDDEN, without_logins
from ..secrets.secret_texts import is_private_key

LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
SUBDOMAIN: Final = rf"{LABEL}(\.{LABEL})*"
QUALIFIED: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
LONGEST_LABEL: Final = 63
LONGEST_SUBDOMAIN: Final = 253
_PORT: Final = r"[-a-z0-9]+"
_LONGEST_PORT: Final = 15
# A message shows only the beginning of a value, which suffices to find it.
_MAX_SHOWN: Final = 60
_MAX_CHOICES: Final = 20
# difflib gives 0.67 for "serie" and "size", and for "hostname" and "name".
_SIMILAR: Final = 0.75
# The least number of characters that count as the beginning or the end of a name.
_PART: Final = 3
# Thousands of entries share namespaces, keys and values.
_CACHE_SIZE: Final = 4096


def one_line(text: object) -> str:
    """A text of another program, such as the message of a condition, on one line; "" for None."""
    return " ".join(str(text or "").split())


def first_names(names: Iterable[str], most: int) -> str:
    """`a, b and 3 more`: the first names of many for a message. most: how many of them."""
    listed = list(names)
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more


def join_or(names: Sequence[str]) -> str:
    """`a, b or c`"""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def quoted(value: Any) -> str:
    """A value as a message quotes it: on one line, shortened, without passwords of URLs and private keys."""
    # Before it is cut: the beginning of a secret would not be found any more.
    if isinstance(value, str):
        value = text = HIDDEN if is_private_key(value) else without_logins(value)
    else:
        text = without_logins(_text(value))
    quoted = repr(text[: _MAX_SHOWN + 1]) if isinstance(value, str) else text
    if len(text) <= _MAX_SHOWN:
        return quoted
    cut = repr(text[:_MAX_SHOWN]) if isinstance(value, str) else text[:_MAX_SHOWN]
    return f"{cut}... ({len(text)} characters)"


def _text(value: Any) -> str:
    try:
        return repr(value)
    except ValueError:
        # Python does not print integers of more than 4300 digits.
        return f"a number of {value.bit_length()} bits"


def did_you_mean(name: Any, known_names: Iterable[Any], prefix: str = "", less_likely: Collection[Any] = ()) -> str:
    """The end of a message about an unknown name: similar known names, or all known names if they are few.

    Options and fields count as similar (`dedicated_cpu_placement`, `dedicatedCPUPlacement`). prefix: the common
    beginning of all names, which does not make them similar. less_likely: names that count only if no other is similar.
    """
    known = [entry for entry in known_names if entry not in less_likely]
    if close := similar(name, known, prefix) or similar(name, less_likely, prefix):
        return f"; did you mean {' or '.join(close)}?"
    if 0 < len(known) <= _MAX_CHOICES:
        return f"; choose from {', '.join(map(str, known))}"
    return "; check the spelling"


def similar(name: Any, known_names: Iterable[Any], prefix: str = "") -> list[str]:
    """At most two known names that somebody may have meant who wrote a name. See `did_you_mean`."""
    from difflib import get_close_matches

    spelled = {_plain(str(entry).removeprefix(prefix)): str(entry) for entry in known_names}
    wanted = _plain(str(name).removeprefix(prefix))
    close = get_close_matches(wanted, spelled, 2, _SIMILAR)
    swapped = [entry for entry in spelled if sorted(entry) == sorted(wanted)]
    part = wanted if len(wanted) >= _PART else "\0"
    begun = [entry for entry in spelled if entry.startswith(part)]
    ended = [entry for entry in spelled if entry.endswith(part)]
    return [spelled[match] for match in dict.fromkeys([*close, *swapped, *begun, *ended])][:2]


def _plain(name: Any) -> str:
    return str(name)[:_MAX_SHOWN].replace("_", "").lower()


@lru_cache(maxsize=_CACHE_SIZE)
def label(text: str) -> str:
    """Checks an RFC 1123 label, such as the name of a namespace or volume."""
    return _error(text, LONGEST_LABEL, LABEL, "a-z, 0-9 and '-', with a letter or digit at both ends")


@lru_cache(maxsize=_CACHE_SIZE)
def subdomain(text: str) -> str:
    """Checks an RFC 1123 subdomain, such as the name of most objects."""
    form = "a-z, 0-9, '-' and '.', with a letter or digit at both ends and around each dot"
    return _error(text, LONGEST_SUBDOMAIN, SUBDOMAIN, form)


@lru_cache(maxsize=_CACHE_SIZE)
def label_key(text: str) -> str:
    """Checks the key of a label, annotation or taint: a name with an optional subdomain and slash."""
    prefix, slash, name = text.rpartition("/")
    if slash and (not prefix or subdomain(prefix)):
        return "needs a domain such as example.com before the slash"
    return _qualified(name) if name else "is empty"


@lru_cache(maxsize=_CACHE_SIZE)
def label_value(text: str) -> str:
    """Checks the value of a label, which may be empty."""
    return _qualified(text) if text else ""


@lru_cache(maxsize=_CACHE_SIZE)
def port_name(text: str) -> str:
    """Checks the name of a port, an IANA service name."""
    if len(text) > _LONGEST_PORT:
        return f"is longer than {_LONGEST_PORT} characters"
    plain = re.fullmatch(_PORT, text) and "--" not in text and text.strip("-") == text
    if plain and any("a" <= letter <= "z" for letter in text):
        return ""
    return "must consist of a-z, 0-9 and single '-', with at least one letter and no '-' at either end"


def _qualified(text: str) -> str:
    form = "letters, digits, '-', '_' and '.', with a letter or digit at both ends"
    return _error(text, LONGEST_LABEL, QUALIFIED, form)


def _error(text: str, maximum: int, pattern: str, form: str) -> str:
    if len(text) > maximum:
        return f"is longer than {maximum} characters"
    return "" if re.fullmatch(pattern, text) else f"must consist of {form}"
