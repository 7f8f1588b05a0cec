"""Draws the top of a fleet report for the documentation: `python tools/draw_fleet_report.py` writes a picture.

The page is the fleet report of the sample fleet of the tests. The picture, docs/images/fleet_report.svg,
holds the page itself with its style, in light and dark.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from xml.dom import minidom

CHECKOUT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(CHECKOUT / "tests" / "unit" / "support"))

from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._filter_functions.fleet import fleet, page  # noqa: E402
from fleet_samples import fleet as sample  # noqa: E402

PICTURE = CHECKOUT / "docs" / "images" / "fleet_report.svg"
WIDTH, HEIGHT = 1000, 850
# HTML's empty elements and bare attributes, as XML has them.
_EMPTY = re.compile(r"<(br|hr|img|meta|col)\b([^>/]*)>")


def main() -> int:
    options = sample(200)
    summary = fleet(options.pop("value"), **options, now="2026-03-01T08:00:00Z")
    html = page(summary, "fleet", "Fleet report", rows=20)
    described = "Figures of 200 VMs, and their states by team and namespace."
    PICTURE.write_text(picture(html, HEIGHT, "A fleet report", described), encoding="utf-8")
    return 0


def picture(html: str, height: int, title: str, description: str) -> str:
    """The top of a page, up to its second section, as SVG."""
    style = html[html.index("<style>") + 7 : html.index("</style>")].replace("body {", ".page {")
    body = html[html.index("<body>") + 6 : html.index("</body>")].replace("<details open>", '<details open="open">')
    # The first section is enough to see what the page is about.
    body = body.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ')
    body = _EMPTY.sub(r"<\1\2/>", "<h2>".join(body.split("<h2>")[:2]))
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        f'role="img" aria-labelledby="title desc"><title id="title">{title}</title>'
        f'<desc id="desc">{description}</desc>'
        f"<style>:root{{--page:#fff}}@media (prefers-color-scheme: dark){{:root{{--page:#15191d}}}}"
        f'.ground{{fill:var(--page)}}</style><rect class="ground" width="{WIDTH}" height="{height}"/>'
        f'<foreignObject width="{WIDTH}" height="{height}"><div xmlns="http://www.w3.org/1999/xhtml">'
        f'<style>{style}</style><div class="page" style="margin:0;padding:1rem 2rem">{body}</div>'
        "</div></foreignObject></svg>\n"
    )
    minidom.parseString(svg)
    return svg


if __name__ == "__main__":
    sys.exit(main())
