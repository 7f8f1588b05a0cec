"""KubeVirt's releases: only this module reads and compares their versions. `behaviour` is the table of differences."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Final, NamedTuple, TypeVar

from .name_rules import quoted

T = TypeVar("T")
Version = tuple[int, int, int]


class UnknownRelease(ValueError):
    """The text is not a known KubeVirt release; one line with the remedy."""


class Release(NamedTuple):
    """A KubeVirt release. version: major, minor and patch."""

    version: Version

    @property
    def minor_version(self) -> str:
        """``1.9``"""
        return ".".join(map(str, self.version[:2]))

    def has(self, releases: str) -> bool:
        """Whether this is one of the releases: ``1.6`` is it and all later ones, ``1.5-1.7`` the first and the last,
        ``-1.7`` all up to it, and a space separates periods. A last release includes its patches.
        """
        return _is_one_of(self.version, releases)

    def pick(self, values: Mapping[str, T]) -> T:
        """The value of the period that has this release."""
        return next(value for releases, value in values.items() if self.has(releases))


NEWEST: Final = Release((1, 9, 0))
UPCOMING: Final = Release((1, 10, 0))
"""The next release."""
UPCOMING_SOURCES: Final = "22 August 2026"
"""The day of the sources that tell what the next release does."""

_OLDEST: Final = (1, 4, 0)
_VERSION: Final = re.compile(r"v?(\d+)\.(\d+)(?:\.(\d+))?(?:[-+].*)?")


def parse_release(version: str) -> Release:
    """The release for a text such as ``1.6``, ``v1.6.2`` or ``v1.4.0-rc.1``.

    Without a patch number it is the first of its minor version. Releases after the upcoming one behave like that.
    Raises UnknownRelease for other texts and for releases before 1.4.
    """
    remedy = "write 1.4 or later, such as 1.6 or v1.6.2"
    try:
        parsed = _version(version)
    except ValueError:
        raise UnknownRelease(f"{quoted(version)} is not a version of KubeVirt; {remedy}, in quotes") from None
    if parsed < _OLDEST:
        raise UnknownRelease(f"KubeVirt {version} is not supported; {remedy}")
    return _release(parsed)


def parse_known_release(version: str, newest: Release = NEWEST) -> Release:
    """Parses a release that a user names. Raises UnknownRelease like `parse_release`, and for one after `newest`."""
    release = parse_release(version)
    if _version(version)[:2] > newest.version[:2]:
        known = f"{OLDEST.minor_version} to {newest.minor_version}"
        raise UnknownRelease(f"this collection does not know KubeVirt {version}; write {known}, or a patch of these")
    return release


def last_of(releases: str) -> Release:
    """The last release of a period as `Release.has` reads it."""
    return parse_release(releases.rpartition("-")[2])


def is_newer(version: str) -> bool:
    """Whether a text such as ``v1.10.0`` means a later minor version than the newest release."""
    try:
        return _version(version)[:2] > NEWEST.version[:2]
    except ValueError:
        return False


def is_older(version: str, than: str) -> bool:
    """Whether a text means an earlier release than another; false if one of them is no version."""
    try:
        return _version(version) < _version(than)
    except ValueError:
        return False


@cache
def _version(text: str) -> Version:
    match = _VERSION.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise ValueError(text)
    major, minor, patch = match.groups(default="0")
    return int(major), int(minor), int(patch)


@cache
def _is_one_of(version: Version, releases: str) -> bool:
    for period in releases.split():
        first, _dash, last = period.partition("-")
        end = _numbers(last)
        if _numbers(first) <= version and version[: len(end)] <= end:
            return True
    return False


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split("."))) if text else ()


@cache
def _release(version: Version) -> Release:
    if version >= UPCOMING.version:
        return UPCOMING
    if version >= NEWEST.version:
        return NEWEST
    return Release(version)


OLDEST: Final = _release(_OLDEST)
"""The oldest supported release."""
