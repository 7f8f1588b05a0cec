"""The volumes of a VM, and what stands behind them."""

from typing import Any

import pytest

from plugins.module_utils._resolver.api.manifest import claim_of, data_volume_of, template_specs, volume_of

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
