"""The volumes of a VM and what stands behind them, and the items of lists as kubectl and must-gather write them."""

from typing import Any

import pytest

from plugins.module_utils._resolver.api.manifest import claim_of, data_volume_of, list_items, template_specs, volume_of

ROOT = {"name": "root", "dataVolume": {"name": "web-root"}}
VM = {
    "spec": {
        "dataVolumeTemplates": [{"metadata": {"name": "web-root"}, "spec": {"storage": {}}}, {}],
        "template": {"spec": {"volumes": [{"name": "data"}, ROOT]}},
    }
}


@pytest.mark.parametrize(
    ("volume", "claim"),
    [
        (ROOT, "web-root"),
        ({"persistentVolumeClaim": {"claimName": "disk"}}, "disk"),
        ({"memoryDump": {"claimName": "dump"}}, "dump"),
        ({"dataVolume": {}}, ""),
        ({"containerDisk": {"image": "x"}}, ""),
    ],
)
def test_claim_of_a_volume(volume: dict[str, Any], claim: str) -> None:
    assert claim_of(volume) == claim


def test_volume_and_data_volume_by_name() -> None:
    assert volume_of(VM, "root") == ROOT
    assert volume_of(VM, "other") == volume_of({"spec": {}}, "root") == {}
    assert (data_volume_of(ROOT), data_volume_of({"name": "data"})) == ("web-root", "")


def test_specs_of_data_volume_templates() -> None:
    assert template_specs(VM) == {"web-root": {"storage": {}}, "": {}}
    assert template_specs({}) == {}


ITEM = {"metadata": {"name": "a"}}


@pytest.mark.parametrize(
    ("manifest", "items"),
    [
        ({"kind": "List", "items": [{"kind": "Pod"}]}, [{"kind": "Pod"}]),
        ({"kind": "PodList", "apiVersion": "v1", "items": [ITEM]}, [{"kind": "Pod", "apiVersion": "v1", **ITEM}]),
        ({"kind": "PodList", "items": [ITEM, "text"]}, [{"kind": "Pod", **ITEM}, "text"]),
        ({"kind": "PodList", "items": [{"kind": "Other"}]}, [{"kind": "Other"}]),
        ({"kind": "PodList", "items": None}, None),
        ({"kind": "Pod", "items": [ITEM]}, None),
        ({"items": [ITEM]}, None),
    ],
)
def test_items_get_the_kind_of_their_list(manifest: dict[str, Any], items: list[Any] | None) -> None:
    assert list_items(manifest) == items
