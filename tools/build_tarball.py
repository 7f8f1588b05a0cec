"""Builds the tarball that ansible-galaxy installs: `python tools/build_tarball.py FOLDER` prints its path.

Galaxy and Automation Hub show README files without what is beside them. In the tarball their links and pictures
therefore lead to the repository, at the tag of the version.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from build_docs import CHECKOUT, GALAXY, LINK, BrokenLink

BIN = Path(sys.executable).parent
RAW = "https://raw.githubusercontent.com"


def main(arguments: list[str]) -> int:
    (out,) = arguments
    try:
        print(build(Path(out).resolve()))
    except BrokenLink as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def build(out: Path) -> Path:
    """Write the tarball of the files that git knows, or would add, and return its path. Raises BrokenLink."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in listed():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(CHECKOUT / name, copy / name)
        for page in [copy / "README.md", *sorted(copy.glob("roles/*/README.md"))]:
            page.write_text(absolute(page, copy), encoding="utf-8")
        command = [str(BIN / "ansible-galaxy"), "collection", "build", "--force", "--output-path", str(out)]
        subprocess.run(command, cwd=copy, check=True, stdout=subprocess.DEVNULL)
    return out / f"{GALAXY['namespace']}-{GALAXY['name']}-{GALAXY['version']}.tar.gz"


def listed() -> list[Path]:
    """Paths relative to the checkout."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, cwd=CHECKOUT, check=True, stdout=subprocess.PIPE, text=True)
    return [Path(name) for name in done.stdout.split("\0") if name and (CHECKOUT / name).is_file()]


def absolute(page: Path, root: Path) -> str:
    """The text of a page below `root` with absolute links. Raises BrokenLink."""
    text = page.read_text(encoding="utf-8")
    repository, tag = GALAXY["repository"], f"v{GALAXY['version']}"
    parts, end = [], 0
    for match in LINK.finditer(text):
        target = Path(os.path.normpath(page.parent / match[2]))
        if not target.exists():
            raise BrokenLink(f"{page.relative_to(root)}: there is no {match[2]}")
        path = target.relative_to(root).as_posix()
        is_picture = text[: text.rindex("[", 0, match.start())].endswith("!")
        if is_picture:
            where = f"{RAW}/{repository.partition('github.com/')[2]}/{tag}/{path}"
        else:
            where = f"{repository}/{'tree' if target.is_dir() else 'blob'}/{tag}/{path}"
        parts += [text[end : match.start()], f"{match[1]}{where}{match[3] or ''})"]
        end = match.end()
    return "".join([*parts, text[end:]])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
