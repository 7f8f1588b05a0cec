"""The differences of two JSON values, by path."""

import json
import re
from collections.abc import Iterator
from typing import Any

_GO_DECODER = re.compile(
    r"cannot unmarshal|quantities must match|unexpected type in ControllerRevision|failed to decode (object|old)"
)


def differences(expected: Any, got: Any, path: str = "") -> Iterator[str]:
    """One line for each difference; order of keys does not count, order of lists does, 1 equals 1.0 but not true.

    Where the recorded text is that of Go's decoder, any text will do: ours names the field and the reason.
    """
    if isinstance(expected, dict) and isinstance(got, dict):
        for key in sorted(expected.keys() | got.keys()):
            below = f"{path}.{key}" if path else str(key)
            if key not in got:
                yield f"{below}: expected {_text(expected[key])}, got nothing"
            elif key not in expected:
                yield f"{below}: expected nothing, got {_text(got[key])}"
            else:
                yield from differences(expected[key], got[key], below)
    elif isinstance(expected, list) and isinstance(got, list):
        for index, (left, right) in enumerate(zip(expected, got)):
            yield from differences(left, right, f"{path}[{index}]")
        for index in range(len(got), len(expected)):
            yield f"{path}[{index}]: expected {_text(expected[index])}, got nothing"
        for index in range(len(expected), len(got)):
            yield f"{path}[{index}]: expected nothing, got {_text(got[index])}"
    elif isinstance(expected, str) and isinstance(got, str) and got and _GO_DECODER.search(expected):
        return
    elif isinstance(expected, bool) is not isinstance(got, bool) or expected != got:
        yield f"{path or '(all)'}: expected {_text(expected)}, got {_text(got)}"


def _text(value: Any) -> str:
    try:
        return json.dumps(value, sort_keys=True)
    except TypeError:
        return repr(value)
