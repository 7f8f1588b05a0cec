"""The site with its versions: folders, the list for the menu, and where the root leads."""

import json
from pathlib import Path

from loaded_files import load

CHECKOUT = Path(__file__).resolve().parents[2]


def test_each_minor_version_has_a_folder(tmp_path: Path) -> None:
    publish = load(CHECKOUT / "tools" / "publish_site.py").publish
    built, site = tmp_path / "html", tmp_path / "site"
    for folder in (built, site):
        folder.mkdir()
    named = {}
    for ref in ("main", "v1.9.0", "v1.10.0", "v1.9.1"):
        (built / "index.html").write_text(ref)
        named[ref] = publish(built, site, ref)
    assert named == {"main": "dev", "v1.9.0": "1.9", "v1.10.0": "1.10", "v1.9.1": "1.9"}
    assert json.loads((site / "versions.json").read_text()) == ["1.10", "1.9", "dev"]
    assert (site / "1.9" / "index.html").read_text() == "v1.9.1"
    assert 'href="1.10/index.html"' in (site / "index.html").read_text()


def test_before_the_first_release_main_is_shown(tmp_path: Path) -> None:
    (tmp_path / "html").mkdir()
    site = tmp_path / "site"
    site.mkdir()
    load(CHECKOUT / "tools" / "publish_site.py").publish(tmp_path / "html", site, "main")
    assert 'href="dev/index.html"' in (site / "index.html").read_text()
