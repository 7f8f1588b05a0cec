"""One line about an object, whoever says it: preflight, a handler, a limit, the check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

ERROR: Final = "error"
WARNING: Final = "warning"
NOTE: Final = "note"
SEVERITIES: Final = (ERROR, WARNING, NOTE)

# Rules of the check, which has more of its own.
REFUSED: Final = "refused"
NEVER_STARTS: Final = "never-starts"
UNUSED: Final = "unused"
DEPRECATED: Final = "deprecated"
OBSOLETE: Final = "obsolete"
COLLISION: Final = "collision"
# The check reports it as `never-starts`: KubeVirt starts the guest, which cannot boot.
CANNOT_BOOT: Final = "cannot-boot"


@dataclass(frozen=True)
class Finding:
    """A certain or possible problem of an object.

    severity: ERROR if the cluster rejects the object or cannot run it, WARNING for a doubt, NOTE for a remark.
    field: its path in the object, several joined by ", ", or "" for the whole object. remedy: what to do, unless the
    text says it. missing: another object does not exist. rule: the kind of the finding.
    """

    text: str
    severity: str = ERROR
    field: str = ""
    remedy: str = ""
    missing: bool = False
    rule: str = REFUSED

    @classmethod
    def of_line(cls, line: str, severity: str = ERROR, *, missing: bool = False, rule: str = REFUSED) -> Finding:
        """The finding that a line says. line: the text, after the field and a colon if it is about a field."""
        field, colon, text = line.partition(": ")
        first = field.split(", ")[0]
        if not colon or " " in first or not first.startswith(("spec.", "metadata.")):
            field, text = "", line
        return cls(text, severity, field, missing=missing, rule=rule)

    @property
    def message(self) -> str:
        """The text and the remedy."""
        return "; ".join(filter(None, (self.text, self.remedy)))

    @property
    def line(self) -> str:
        """The field, the text and the remedy."""
        return f"{self.field}: {self.message}" if self.field else self.message
