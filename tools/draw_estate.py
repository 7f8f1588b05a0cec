"""Writes the example of an estate for the documentation: `python tools/draw_estate.py`.

The machines are those of `made_estate.py`. The picture, docs/images/estate.svg, is the top of their page.
"""

from __future__ import annotations

import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(CHECKOUT / "tests" / "unit" / "support"))

from draw_fleet_report import picture  # noqa: E402
from made_estate import sheets, write_csv  # noqa: E402

from ansible_collections.virtshape.instancetypes.plugins.module_utils._estate.readers import rvtools  # noqa: E402
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._filter_functions.estate import (  # noqa: E402
    estate,
    estate_page,
)

EXAMPLE = CHECKOUT / "docs" / "examples" / "estate"
PICTURE = CHECKOUT / "docs" / "images" / "estate.svg"
HEIGHT = 1080
MACHINES, NEW_SIZES = 240, 12


def svg() -> str:
    html = estate_page(estate(rvtools.read(sheets(MACHINES)).machines, new_sizes=NEW_SIZES), "Estate")
    return picture(html, HEIGHT, "The page of an estate", "Sizes of 236 machines before and after.")


def main() -> int:
    EXAMPLE.mkdir(parents=True, exist_ok=True)
    # The sanity tests of Ansible refuse a byte order mark and the line ends of Windows.
    write_csv(EXAMPLE, sheets(MACHINES), encoding="utf-8", line_end="\n")
    PICTURE.write_text(svg(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
