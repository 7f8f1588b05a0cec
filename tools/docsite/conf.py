"""How Sphinx makes the site of docs/ and the reference; tools/build_docs.py calls it."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from docutils import nodes

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from build_docs import CHECKOUT, COLLECTION, GALAXY, pages

project = COLLECTION
version = release = GALAXY["version"]
html_title = project
language = "en"

extensions = ["myst_parser", "sphinx_antsibull_ext"]
myst_heading_anchors = 4
# Text in backquotes that is no role of Sphinx's is an error, as is a link that leads nowhere.
default_role = "any"
nitpicky = True
# A block that does not say what it is, is what a program prints.
highlight_language = "text"
pygments_style = "friendly"
pygments_dark_style = "monokai"

html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["versions.js", "player.js"]
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
html_show_sourcelink = False
html_use_index = False

# What the reference refers to of Ansible's own documentation. Nothing is looked up there: a build needs no network.
_ANSIBLE = "https://docs.ansible.com/projects/ansible/latest"
_LABELS = {
    "action_plugins": f"{_ANSIBLE}/plugins/action.html",
    "ansible_configuration_settings": f"{_ANSIBLE}/reference_appendices/config.html",
    "common_return_values": f"{_ANSIBLE}/reference_appendices/common_return_values.html",
}


def _elsewhere(_app: Any, _env: Any, node: Any, content: Any) -> nodes.reference | None:
    target = node["reftarget"]
    address = _LABELS.get(target)
    if module := re.fullmatch(r"ansible_collections\.ansible\.builtin\.(\w+)", target):
        address = f"{_ANSIBLE}/collections/ansible/builtin/{module[1]}.html"
    if node.get("reftype") == "envvar" and target.startswith("ANSIBLE_"):
        address = f"{_ANSIBLE}/reference_appendices/config.html#envvar-{target}"
    return nodes.reference("", "", content, refuri=address) if address else None


# Page of the site, without its suffix → the file that it is made of.
_SOURCES = {Path(name).stem: path.relative_to(CHECKOUT) for path, name in pages().items()}


def _lead_to_source(_app: Any, page: str, _template: str, context: dict[str, Any], _doctree: Any) -> None:
    """Let the links "view" and "edit" lead to the file of a page. A page that is generated has no such links."""
    if path := _SOURCES.get(page):
        context["theme_source_edit_link"] = f"{GALAXY['repository']}/edit/main/{path}"
        context["theme_source_view_link"] = f"{GALAXY['repository']}/blob/main/{path}?plain=true"


def setup(app: Any) -> None:
    app.connect("missing-reference", _elsewhere)
    app.connect("html-page-context", _lead_to_source)
