"""Builds the documentation site: `make docs`, into .cache/docs/html.

The pages are those of docs/, which read as well in a repository's browser, and the roles' README files; the reference
of modules, filters and plugins is written by antsibull-docs from what ansible-doc shows. Sphinx makes HTML of both.

The pages are copied to a folder of the build, where links between them become links between pages of the site, links to
a module or filter lead to its page of the reference, and links to other files lead to the repository. A link to a file
that does not exist is an error. The lists in docs/all_pages.md are the site's table of contents; a page that is missing
there is an error as well, by Sphinx.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

CHECKOUT = Path(__file__).resolve().parent.parent
OUTPUT = CHECKOUT / ".cache" / "docs"
SETTINGS = CHECKOUT / "tools" / "docsite"
OUTPUTS = CHECKOUT / "docs" / "outputs"
GALAXY = yaml.safe_load((CHECKOUT / "galaxy.yml").read_text(encoding="utf-8"))
COLLECTION = f"{GALAXY['namespace']}.{GALAXY['name']}"
REFERENCE = "reference"

# A link or a picture of Markdown to something that has no scheme.
LINK = re.compile(r"(\]\()(?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?\)")
_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)


class BrokenLink(Exception):
    """Page and link."""


def pages(checkout: Path = CHECKOUT) -> dict[Path, str]:
    """The Markdown files of the site: path in the checkout → path in the site."""
    docs = {path: path.name for path in sorted((checkout / "docs").glob("*.md"))}
    return docs | {path: f"role_{path.parent.name}.md" for path in sorted((checkout / "roles").glob("*/README.md"))}


def site_path(target: Path, page_names: dict[Path, str], checkout: Path = CHECKOUT) -> str | None:
    """Where in the site, or in the repository, a file of the checkout is; None if there is no such file."""
    if target in page_names:
        return page_names[target]
    if not target.exists():
        return None
    path = target.relative_to(checkout)
    if path == Path("plugins"):
        return f"{REFERENCE}/index.rst"
    kind = {"modules": "module", "filter": "filter", "inventory": "inventory"}.get(path.parent.name)
    if path.parts[0] == "plugins" and kind and path.suffix in (".py", ".yml"):
        return f"{REFERENCE}/{path.stem}_{kind}.rst"
    if path.parts[:2] == ("docs", "images"):
        return str(path.relative_to("docs"))
    return f"{GALAXY['repository']}/{'tree' if target.is_dir() else 'blob'}/main/{path}"


def relinked(page: Path, page_names: dict[Path, str], checkout: Path = CHECKOUT) -> str:
    """The text of a page with its links as the site needs them. Raises BrokenLink."""

    def link(match: re.Match[str]) -> str:
        target = Path(os.path.normpath(page.parent / match[2]))
        where = site_path(target, page_names, checkout)
        if where is None:
            raise BrokenLink(f"{page.relative_to(checkout)}: there is no {match[2]}")
        return f"{match[1]}{where}{match[3] or ''})"

    return LINK.sub(link, page.read_text(encoding="utf-8"))


def contents(all_pages: str) -> str:
    """The tables of contents of the site: one for each section of the page of all pages that is a list of links.

    all_pages: that page, relinked.
    """
    _title, *parts = _SECTION.split(all_pages)
    trees = ["\nAll pages <all_pages>"]
    for title, body in zip(parts[::2], parts[1::2], strict=True):
        entries = re.findall(r"^- \[([^]]+)\]\((?!https?:)([^)#]+)\.(?:md|rst)\)", body, re.MULTILINE)
        if entries:
            trees.append("\n".join([f":caption: {title}\n", *(f"{name} <{target}>" for name, target in entries)]))
    return "".join(f"\n```{{toctree}}\n:hidden:\n{tree}\n```\n" for tree in trees)


def stage(source: Path, checkout: Path = CHECKOUT) -> None:
    """Copy the pages, with the links of the site, and the pictures."""
    page_names = pages(checkout)
    for page, name in page_names.items():
        text = relinked(page, page_names, checkout)
        if name == "index.md":
            text += contents(relinked(page.with_name("all_pages.md"), page_names, checkout))
        (source / name).write_text(text, encoding="utf-8")
    shutil.copytree(checkout / "docs" / "images", source / "images")


def without_contents(text: str) -> str:
    """A page of the reference without its list of sections, which the theme shows beside it."""
    return re.sub(r"^\.\. contents::\n(?: +:.*\n)*", "", text, flags=re.MULTILINE)


def with_output(text: str, output: str) -> str:
    """A module's page with what its task prints, between the examples and what is returned."""
    block = "".join(f"    {line}\n" if line else "\n" for line in output.splitlines())
    before, marker, after = text.partition("\n.. Facts\n")
    assert marker, "a page of antsibull-docs has no comment .. Facts"
    return f"{before}\nOutput\n------\n\n.. code-block:: text\n\n{block}\n{marker}{after}"


def without_internal(index: str) -> tuple[str, list[str]]:
    """The list of plugins without those that are for the collection itself, and the names of their pages."""
    entry = re.compile(r"^\* :ansplugin:`(\S+) (\w+) <[^>]*>` -- (.*)\n", re.MULTILINE)
    internal = [match for match in entry.finditer(index) if match[1].startswith("_") or match[3].startswith("Internal")]
    for match in internal:
        index = index.replace(match[0], "")
    return index, [f"{match[1]}_{match[2]}.rst" for match in internal]


def write_reference(folder: Path) -> int:
    """Let antsibull-docs write the reference; the exit status."""
    # It wants a folder that nobody else may write to.
    folder.mkdir(mode=0o755, parents=True)
    command = ["antsibull-docs", "--config-file", str(SETTINGS / "antsibull-docs.cfg"), "collection", "--use-current"]
    done = subprocess.run([*command, "--squash-hierarchy", "--dest-dir", str(folder), COLLECTION], check=False)
    for page in folder.glob("*.rst"):
        text = without_contents(page.read_text(encoding="utf-8"))
        output = OUTPUTS / f"{page.stem.removesuffix('_module')}.txt"
        if page.stem.endswith("_module") and output.exists():
            text = with_output(text, output.read_text(encoding="utf-8"))
        page.write_text(text, encoding="utf-8")
    if done.returncode == 0:
        index, internal = without_internal((folder / "index.rst").read_text(encoding="utf-8"))
        (folder / "index.rst").write_text(index, encoding="utf-8")
        for name in internal:
            (folder / name).unlink()
    return done.returncode


def main() -> int:
    argparse.ArgumentParser(description="Build the documentation site into .cache/docs/html.").parse_args()
    source = OUTPUT / "source"
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)
    try:
        stage(source)
    except BrokenLink as error:
        print(error, file=sys.stderr)
        return 1
    status = write_reference(source / REFERENCE)
    if status:
        return status
    sphinx = ["sphinx-build", "-b", "html", "-c", str(SETTINGS), "-d", str(OUTPUT / "doctrees"), "-j", "auto", "-q"]
    done = subprocess.run([*sphinx, "--fail-on-warning", str(source), str(OUTPUT / "html")], check=False)
    if done.returncode:
        return done.returncode
    print(OUTPUT / "html" / "index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
