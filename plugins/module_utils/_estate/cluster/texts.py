"""The text of a file in the encodings in which programs of Windows and others save their exports."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import Final

from ..._cluster.client.errors import TaskFailed

ZIP: Final = b"PK\x03\x04"
# Old binary files of Office, and files of Office that are encrypted.
OLE: Final = b"\xd0\xcf\x11\xe0"
# The longest mark first: that of UTF-32 begins with that of UTF-16.
_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Characters to tell UTF-16 without a mark by: in most languages, each second byte of some headings is 0.
_SAMPLE: Final = 400


def text_of_file(path: Path, remarks: list[str]) -> str:
    """The text. Adds a remark if its encoding is a guess. Raises TaskFailed, which names the remedy."""
    content = path.read_bytes()
    if not content.strip():
        raise TaskFailed(f"source: {path}: is empty; export it again")
    for signature, what in (
        (ZIP, "a zip archive; unpack it"),
        (OLE, "a binary file of Office; save it as .xlsx or CSV"),
    ):
        if content.startswith(signature):
            raise TaskFailed(f"source: {path}: is {what}")
    text = _decoded(path, content, remarks)
    if text.lstrip().startswith("<"):
        raise TaskFailed(f"source: {path}: is HTML or XML; export it as .xlsx, CSV or JSON")
    return text


def _decoded(path: Path, content: bytes, remarks: list[str]) -> str:
    encoding = next((name for mark, name in _MARKS if content.startswith(mark)), _unmarked(content))
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        pass
    try:
        text = content.decode("cp1252")
    except UnicodeDecodeError:
        text = "\0"
    if encoding != "utf-8" or "\0" in text:
        raise TaskFailed(f"source: {path}: is no text in UTF-8, UTF-16 or Windows-1252; save it as UTF-8")
    remarks.append(f"{path.name}: is not UTF-8 and was read as Windows-1252; if names are wrong, save it as UTF-8")
    return text


def _unmarked(content: bytes) -> str:
    for encoding, zeros in (("utf-16-le", content[1:_SAMPLE:2]), ("utf-16-be", content[0:_SAMPLE:2])):
        if 2 * zeros.count(0) > len(zeros):
            return encoding
    return "utf-8"
