"""Whole results that somebody has looked at: pages, pictures, and what is reported of manifests.

A test of a single phrase says little of a page. Such a result is kept in `approved/`, and a test fails where it is no
longer the same. Where it should not be, write the files anew with ``VIRTSHAPE_APPROVE=1 pytest ...``, look at them as a
user would, and commit them.
"""

import os
import re
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "module_utils" / "_resolver" / "approved"

_PAGE = "a page of ours: its words are nobody else's, its figures those of fleet.json or catalog.json"
_EXPANSIONS = "tests/integration/properties/test_approved_filters.py"
ANSWERED = {
    "filter_expand.json": f"virt-api: {_EXPANSIONS}",
    "filter_infer.json": f"virt-api: {_EXPANSIONS}",
    "filter_drift.json": f"made of two expansions, which virt-api answers: {_EXPANSIONS}",
    "filter_explain.json": f"made of the expansion, which virt-api answers: {_EXPANSIONS}",
    "filter_explain.txt": f"made of the expansion, which virt-api answers: {_EXPANSIONS}",
    "modernize.json": "virt-api: tests/integration/properties/test_approved_filters.py",
    "catalog.json": "made of requirements, which KubeVirt's own code answers: tests/conformance/test_vectors.py",
    "fleet.json": "sums of given figures",
    **dict.fromkeys(
        ("catalog.html", "catalog.md", "catalog.svg", "fleet.html", "fleet_empty.html"),
        _PAGE,
    ),
    **dict.fromkeys(
        ("refresh.html", "refresh_plan.html", "upgrade.html"),
        "a page of ours: its words are nobody else's, its figures those of the data",
    ),
}
"""Approved file → what answered the values in it, with the test that asks it."""


def check(name: str, result: str) -> None:
    """Fails where the result is not the approved file of that name."""
    path = FOLDER / name
    if os.environ.get("VIRTSHAPE_APPROVE"):
        path.write_text(result, encoding="utf-8")
    approved = path.read_text(encoding="utf-8")
    assert result.splitlines() == approved.splitlines(), f"not what was approved in {path.name}"


def check_page(name: str, page: str, has_time: bool = False) -> None:
    """The same for a page without its stylesheet. has_time: it has the time of the test, which counts for nothing."""
    page = re.sub(r"(?s)<style>.*?</style>", "<style></style>", page)
    check(name, re.sub(r"[\d-]+ [\d:]+ UTC", "TIME UTC", page) if has_time else page)
