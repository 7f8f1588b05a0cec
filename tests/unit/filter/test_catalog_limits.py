"""The filter catalog shows the limits of namespaces."""

import re

import pytest
from ansible.errors import AnsibleFilterError
from loaded_filters import FILTERS

catalog = FILTERS["catalog"]

SIZES = {"series": {"web": {"sizes": {"small": {"cpu": 1, "memory": "2Gi"}, "large": {"cpu": 8, "memory": "2Gi"}}}}}

LIMIT = {"name": "standard", "except_namespaces": ["lab"], "max_cpu": 4, "action": "warn", "require": ["instancetype"]}


def test_pictures_show_permitted_objects_of_limits() -> None:
    drawn = catalog(SIZES, "svg", limits=[LIMIT])
    assert "web.large in all namespaces but lab: not permitted (warn)" in drawn
    assert "web.small in all namespaces but lab: permitted" in drawn
    page = re.sub(r"<td[^>]*>", "<td>", catalog(SIZES, "html", limits=[LIMIT]))
    assert "<td>at most 4 vCPUs; must name: instancetype</td><td>1 of 2 instancetypes" in page
    assert "| web.large | 8 | 2Gi | warn |" in catalog(SIZES, "markdown", limits=[LIMIT])
    assert "Limits" not in catalog(SIZES, "html")


@pytest.mark.parametrize("count", [1, 2, 5])
def test_limits_stand_beside_the_names(count: int) -> None:
    limits = [{"name": f"limit-{index}", "max_cpu": 1 + index, "action": "deny"} for index in range(count)]
    sizes = {**SIZES, "families": {"linux": {"preferences": {"fedora": {}, "ubuntu": {}}}}}
    page = catalog(sizes, "html", limits=limits)
    figures, cells = (
        [float(x) for x in re.findall(pattern, page)]
        for pattern in (
            r'<text class="r q" x="(\d+)" y="\d+">2Gi',
            r'<rect x="(\d+)"[^>]*><title>[^<]*: (?:not )?permitted',
        )
    )
    (width,) = re.findall(r'<svg [^>]*width="(\d+)"', page)
    names = [float(x) for x in re.findall(r'<rect x="(\d+)"[^>]*><title>web\.[a-z]+ and ', page)]
    heads = [float(x) for x in re.findall(r"translate\(([\d.]+) [^>]*>limit-", page)]
    assert len(heads) == count and max(figures) < min(heads) <= max(heads) < min(names)
    assert min(cells) >= max(figures) and max([*cells, *names]) + 16 < float(width)
    assert all(f'<td data-head="Limit">{limit["name"]}</td>' in page for limit in limits)


def test_long_names_of_limits_are_not_cut() -> None:
    name = "a" * 63
    page = catalog(SIZES, "html", limits=[{"name": name, "max_cpu": 4}])
    (end,) = re.findall(rf'<text class="r q" x="(\d+)" y="\d+">{name}', page)
    assert float(end) >= 63 * 6


def test_limits_of_the_result_apply_by_default() -> None:
    limit = {"name": "standard", "instancetypes": ["web.small"], "namespaces": ["shop"]}
    result = {**catalog(SIZES), "limits": [limit]}
    assert "web.large in namespaces shop: not permitted (deny)" in catalog(result, "svg")
    drawn = catalog(result, "svg", limits=[LIMIT])
    assert "web.large in all namespaces but lab: not permitted (warn)" in drawn and "in namespaces shop" not in drawn
    assert "not permitted" not in catalog({**result, "limits": None}, "svg", limits=[])
    with pytest.raises(AnsibleFilterError, match="catalog: limits: 'standard': max_cpu: expected a number"):
        catalog(result, "svg", limits=[{**LIMIT, "max_cpu": "4"}])
    for changed in (
        {"limits": [{**limit, "series": ["web"]}]},
        {"instancetypes": ["web.small"]},
        {"preferences": None},
    ):
        with pytest.raises(AnsibleFilterError, match="catalog: expected a result of catalog_info; pass it as"):
            catalog({**result, **changed}, "svg")


def test_wrong_limits_are_an_error() -> None:
    with pytest.raises(AnsibleFilterError, match="catalog: limits: 'standard': max_cpu: expected a number"):
        catalog(SIZES, "svg", limits=[{**LIMIT, "max_cpu": "4"}])
