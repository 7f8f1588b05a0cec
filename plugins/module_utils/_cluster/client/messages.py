"""The API server's messages that mean more than their code. Only a failure imports this file."""

from __future__ import annotations

import re
from typing import Final

TOO_LARGE: Final = ("etcdserver: request is too large", "trying to send message larger than max", "limit is 3145728")
"""For an object that is too large for etcd."""
LASTING: Final = ("failed to create typed patch object", *TOO_LARGE)
"""For errors of the client for which the server responds with 500: also an unknown field in server-side apply."""
FORBIDDEN: Final = re.compile(r'cannot (?P<verb>\w+) resource "(?P<resource>[^"]+)" in API group "(?P<group>[^"]*)"')
"""For a missing permission."""
# If the UID differs: for a DELETE, an apply without an object, and an apply with one.
_OTHER_UID: Final = (
    (409, "Precondition failed: UID"),
    (409, "uid mismatch"),
    (422, "metadata.uid: Invalid value"),
)


def says_other_object(code: int, message: str) -> bool:
    """Whether the object with the UID of a request is gone: there is none, or one of the same name."""
    return any(code == other and words in message for other, words in _OTHER_UID)
