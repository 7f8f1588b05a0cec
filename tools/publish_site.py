"""Puts the built site beside its other versions: `python tools/publish_site.py SITE REF`.

SITE is a checkout of the branch that GitHub shows. A tag v1.2.3 becomes the folder 1.2, a branch the folder dev. The
root leads to the newest release, and versions.json lists the folders for the menu on each page.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

BUILT = Path(__file__).resolve().parent.parent / ".cache" / "docs" / "html"
BRANCH = "dev"
ROOT = """\
<!doctype html>
<meta charset="utf-8">
<title>virtshape.instancetypes</title>
<meta http-equiv="refresh" content="0; url={newest}/index.html">
<a href="{newest}/index.html">Documentation of virtshape.instancetypes</a>
"""


def publish(built: Path, site: Path, ref: str) -> str:
    """Replace the folder of a tag or a branch, and return its name."""
    release = re.fullmatch(r"v(\d+\.\d+)\.\d+", ref)
    name = release[1] if release else BRANCH
    shutil.rmtree(site / name, ignore_errors=True)
    shutil.copytree(built, site / name)
    names = versions(site)
    (site / "versions.json").write_text(json.dumps(names) + "\n")
    (site / "index.html").write_text(ROOT.format(newest=names[0]))
    # Else GitHub leaves out folders that begin with an underscore.
    (site / ".nojekyll").touch()
    return name


def versions(site: Path) -> list[str]:
    """The folders of the site: releases, the newest first, and that of the branch."""
    found = [path.name for path in site.iterdir() if re.fullmatch(r"\d+\.\d+", path.name)]
    newest_first = sorted(found, key=lambda name: tuple(map(int, name.split("."))), reverse=True)
    return newest_first + ([BRANCH] if (site / BRANCH).is_dir() else [])


def main(arguments: list[str]) -> int:
    site, ref = arguments
    print(Path(site) / publish(BUILT, Path(site), ref))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
