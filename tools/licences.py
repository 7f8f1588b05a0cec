"""The licences and notices of all that is linked into programs of Go, from Go's module cache."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

_FILE = re.compile(r"(LICEN[CS]E|COPYING|COPYRIGHT|NOTICE|PATENTS|AUTHORS)([-._].*)?", re.IGNORECASE)
# What tests read, and copies of modules that are listed by themselves.
_SKIPPED = {"testdata", "vendor", "LICENSES", "_examples"}
_TEXTS = {
    "Apache-2.0": r"Apache License,? *Version 2\.0",
    "MPL-2.0": r"Mozilla Public License,? *(Version|version|v\.) *2\.0",
    "MIT": r"Permission is hereby granted, free of charge, to any person obtaining a copy",
    "ISC": r"Permission to use, copy, modify, and(/or)? distribute this software for any purpose",
    "BSD-3-Clause": r"Neither the names? of|The names? of the .* may not be used to endorse|endorse or promote",
    "BSD-2-Clause": r"Redistributions in binary form must reproduce",
}
"""SPDX identifier → what only texts of this licence say, the more special one first."""


class Module(NamedTuple):
    """A module of Go as the programs have it: path, such as k8s.io/api, and version."""

    path: str
    version: str


class UnknownLicence(Exception):
    """A module without a licence that is known."""


def modules(go: str, programs: Iterable[Path]) -> list[Module]:
    """The modules that the linker recorded in the programs, without those of this repository, which have no version."""
    found: set[Module] = set()
    for program in programs:
        command = [go, "version", "-m", str(program)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        listed: list[Module] = []
        for line in done.stdout.splitlines():
            _empty, kind, *words = [*line.split("\t"), "", ""]
            if kind in ("mod", "dep"):
                listed.append(Module(words[0], words[1]))
            elif kind == "=>":
                listed[-1] = Module(words[0], words[1])
        found.update(module for module in listed if module.version.startswith("v"))
    return sorted(found)


def texts(go: str, needed: Iterable[Module]) -> dict[str, bytes]:
    """Licences and notices: path, as `MODULE@VERSION/LICENSE`, → text, those of Go itself among them.

    Raises UnknownLicence for a module without a file that `expression` understands.
    """
    root = subprocess.run([go, "env", "GOROOT"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    result = {f"go/{name}": (Path(root) / name).read_bytes() for name in ("LICENSE", "PATENTS")}
    for module, folder in _folders(go, list(needed)).items():
        own = dict(_files(folder))
        if not any(_licences(text) for name, text in own.items() if "/" not in name):
            raise UnknownLicence(
                f"{module.path}@{module.version}: {folder} has no licence that tools/licences.py knows"
            )
        result |= {f"{module.path}@{module.version}/{name}": text for name, text in own.items()}
    return result


def expression(all_texts: Iterable[bytes], own: str = "") -> str:
    """The SPDX expression of everything together. own: the licence of what is linked besides."""
    names = {name for text in all_texts for name in _licences(text)}
    return " AND ".join(sorted({*names, *filter(None, [own])}))


def _folders(go: str, needed: list[Module]) -> dict[Module, Path]:
    """Where the modules are; Go fetches those that its cache has lost since the build."""
    command = [go, "env", "GOMODCACHE"]
    cache = Path(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip())
    result = {
        module: cache / re.sub("[A-Z]", lambda letter: "!" + letter[0].lower(), "@".join(module)) for module in needed
    }
    lost = [f"{path}@{version}" for (path, version), folder in result.items() if not folder.is_dir()]
    if lost:
        with tempfile.TemporaryDirectory() as outside:
            subprocess.run([go, "mod", "download", *lost], cwd=outside, check=True)
    return result


def _files(folder: Path) -> Iterable[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.suffix != ".go" and _FILE.fullmatch(path.name) and path.is_file() and not _SKIPPED & set(parts):
            yield "/".join(parts), path.read_bytes()


def _licences(text: bytes) -> list[str]:
    """The licences that a text contains."""
    words = " ".join(text.decode(errors="replace").split())
    found = [name for name, pattern in _TEXTS.items() if re.search(pattern, words)]
    if "BSD-3-Clause" in found and "BSD-2-Clause" not in found:
        found.remove("BSD-3-Clause")
    elif "BSD-3-Clause" in found:
        found.remove("BSD-2-Clause")
    return found
