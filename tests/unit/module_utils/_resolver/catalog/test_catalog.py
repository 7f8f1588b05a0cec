"""The catalog that comes with the collection equals upstream's, and the language of catalogs does what it says."""

import copy
import functools
import json
import os
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from loaded_files import load as load_file

from plugins.module_utils._resolver.api.matcher import INSTANCETYPE, PREFERENCE
from plugins.module_utils._resolver.api.type_remedies import AS_TEXT
from plugins.module_utils._resolver.catalog.bundle import version_of
from plugins.module_utils._resolver.catalog.definitions import adapt, expand_catalog
from plugins.module_utils._resolver.catalog.errors import CatalogError
from plugins.module_utils._resolver.catalog.selection import select
from plugins.module_utils._resolver.catalog.versions import version_names
from plugins.module_utils._yaml.documents import documents

CHECKOUT = Path(__file__).resolve().parents[5]
BUILTIN = CHECKOUT / "roles" / "common_instancetypes" / "files" / "catalog"
DIGESTS = Path(__file__).with_name("catalog_digests.json")
UPSTREAM = Path(os.environ.get("VIRTSHAPE_SHARED") or CHECKOUT.parent / "shared") / "upstream/common-instancetypes"
"""Where the upstream bundles are, on machines that have them."""
# Instancetypes and preferences of each version.
NUMBERS = {
    "v1.8.0": (65, 57),
    "v1.7.1": (65, 54),
    "v1.7.0": (65, 54),
    "v1.6.0": (65, 54),
    "v1.5.1": (55, 54),
    "v1.4.1": (55, 54),
    "v1.3.1": (44, 43),
    "v1.2.1": (48, 37),
    "v1.1.1": (59, 54),
    "v1.1.0": (48, 42),
    "v1.0.2": (51, 43),
    "v1.0.1": (39, 32),
    "v1.0.0": (39, 32),
}

PREFIX = "instancetype.kubevirt.io/"


def load(folder: Path, pattern: str) -> list[dict[str, Any]]:
    return [document for path in sorted(folder.glob(pattern)) for document in copy.deepcopy(_documents(path))]


@functools.cache
def _documents(path: Path) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(path.read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    return load_file(CHECKOUT / "tests" / "tools" / "catalog_digests.py")


@pytest.fixture(scope="module")
def builtin() -> list[dict[str, Any]]:
    return expand_catalog(*load(BUILTIN, "*.yml"))


@pytest.fixture(scope="module")
def upstream_digests() -> dict[str, dict[str, str]]:
    result: dict[str, dict[str, str]] = json.loads(DIGESTS.read_text(encoding="utf-8"))
    return result


def names(manifests: list[dict[str, Any]]) -> list[str]:
    return [manifest["metadata"]["name"] for manifest in manifests]


# The built-in catalog.


@pytest.mark.parametrize("version", NUMBERS)
def test_builtin_has_upstreams_digests(
    tool: ModuleType, upstream_digests: dict[str, dict[str, str]], version: str
) -> None:
    result = expand_catalog(*load(BUILTIN, "*.yml"), version=version)
    assert tool.digests(result) == upstream_digests[version]
    assert version_of(result) == version


@pytest.mark.parametrize("path", sorted(BUILTIN.glob("*.yml")), ids=lambda path: path.name)
def test_builtin_files_repeat_no_key(path: Path) -> None:
    """Playbooks read them with this parser, which refuses what PyYAML ignores."""
    assert len(list(documents(path.read_bytes(), path.name))) == 1


def test_digests_are_upstreams_own_numbers(upstream_digests: dict[str, dict[str, str]]) -> None:
    assert list(upstream_digests) == sorted(NUMBERS)
    for version, result in upstream_digests.items():
        kinds = [key.split()[0] for key in result]
        numbers = (kinds.count("VirtualMachineClusterInstancetype"), kinds.count("VirtualMachineClusterPreference"))
        assert numbers == NUMBERS[version]


def test_the_newest_published_version_is_the_default(builtin: list[dict[str, Any]]) -> None:
    documents = load(BUILTIN, "*.yml")
    assert version_names(documents) == list(NUMBERS)
    assert builtin == expand_catalog(*documents, version="v1.7.0")
    assert expand_catalog(*documents, version="v1.8.0") == expand_catalog(*load(BUILTIN, "[ip]*.yml"))
    preview = expand_catalog(*documents, version="v1.7.1")
    specs = {item["metadata"]["name"]: item["spec"] for item in builtin}
    changed = {
        item["metadata"]["name"]: item["spec"] for item in preview if specs[item["metadata"]["name"]] != item["spec"]
    }
    assert sorted(changed) == ["windows.10", "windows.10.virtio", "windows.11", "windows.11.virtio"]
    assert {spec["cpu"]["preferredCPUTopology"] for spec in changed.values()} == {"cores"}


@pytest.mark.parametrize("change", ["spec", "label", "annotation", "name", "missing"])
def test_digests_notice_any_change(
    builtin: list[dict[str, Any]], tool: ModuleType, upstream_digests: dict[str, dict[str, str]], change: str
) -> None:
    changed = copy.deepcopy(builtin)
    fedora = next(manifest for manifest in changed if manifest["metadata"]["name"] == "fedora")
    if change == "spec":
        fedora["spec"]["requirements"]["memory"]["guest"] = "3Gi"
    elif change == "label":
        del fedora["metadata"]["labels"][f"{PREFIX}os-type"]
    elif change == "annotation":
        fedora["metadata"]["annotations"]["iconClass"] = "icon-linux"
    elif change == "name":
        fedora["metadata"]["name"] = "fedora2"
    else:
        changed.remove(fedora)

    assert tool.digests(changed) != upstream_digests["v1.7.0"]


@pytest.mark.skipif(not UPSTREAM.is_dir(), reason="the upstream bundles are not on this machine")
@pytest.mark.parametrize("version", [version for version in NUMBERS if (UPSTREAM / version).is_dir()])
def test_builtin_equals_the_upstream_bundle(
    tool: ModuleType, upstream_digests: dict[str, dict[str, str]], version: str
) -> None:
    bundle = expand_catalog(*load(UPSTREAM / version, "*.yaml"))
    builtin = expand_catalog(*load(BUILTIN, "*.yml"), version=version)

    ours, upstream = (
        {(item["kind"], item["metadata"]["name"]): tool.comparable(item) for item in result}
        for result in (builtin, bundle)
    )
    assert ours == upstream
    assert tool.digests(bundle) == upstream_digests[version]


@pytest.mark.parametrize("version", NUMBERS)
def test_every_builtin_object_has_name_and_description(version: str) -> None:
    builtin = expand_catalog(*load(BUILTIN, "*.yml"), version=version)
    for manifest in builtin:
        annotations = manifest["metadata"]["annotations"]
        if manifest["kind"] == "VirtualMachineClusterInstancetype":
            assert annotations[f"{PREFIX}displayName"] and annotations[f"{PREFIX}description"]
        else:
            assert annotations["openshift.io/display-name"]
    instancetypes, preferences = NUMBERS[version]
    annotations = [manifest["metadata"]["annotations"] for manifest in builtin[instancetypes:]]
    assert len({own["openshift.io/display-name"] for own in annotations}) == preferences


# The language.


def test_short_keys_for_what_consoles_show() -> None:
    addresses = {"docs_url": "https://docs.example.com", "support_url": "https://help.example.com"}
    shared = {**addresses, "tags": ["web", "acme"]}
    definition = {
        "series": {"web": {**shared, "icon": "pficon-server", "sizes": {"small": {"cpu": 1, "memory": "1Gi"}}}},
        "families": {
            "acme": {
                **shared,
                "os": "linux",
                "icon": "icon-linux",
                "preferences": {
                    "acme.9": {"os_type": "acme"},
                    "acme.8": {"os": None, "os_type": "linux", "icon": None, "tags": "a,b", "docs_url": None},
                },
            }
        },
    }
    size, new, old = (item["metadata"] for item in expand_catalog(definition))
    annotations = {
        "openshift.io/documentation-url": "https://docs.example.com",
        "openshift.io/support-url": "https://help.example.com",
        "tags": "web,acme",
    }
    assert size["annotations"] == annotations
    assert size["labels"][f"{PREFIX}icon-pf"] == "pficon-server"
    assert new["annotations"] == {**annotations, "iconClass": "icon-linux"}
    assert new["labels"] == {f"{PREFIX}os-type": "acme"}
    assert old["annotations"] == {"openshift.io/support-url": "https://help.example.com", "tags": "a,b"}
    assert old["labels"] == {f"{PREFIX}os-type": "linux"}


def size(**entry: Any) -> dict[str, Any]:
    return {"series": {"web": {"sizes": {"small": {"cpu": 1, "memory": "1Gi", **entry}}}}}


def preference(**entry: Any) -> dict[str, Any]:
    return {"families": {"acme": {"preferences": {"acme": entry}}}}


MANIFEST = {
    "apiVersion": "instancetype.kubevirt.io/v1beta1",
    "kind": "VirtualMachinePreference",
    "metadata": {"name": "acme", "namespace": "web", "uid": "1"},
}

MISTAKES = {
    "catalog 0: expected a definition or a manifest, found 'u1'": ["u1"],
    "the catalog: unknown key 'serie'; did you mean series?": [{"serie": {}}],
    "the catalog: series: expected an object, found ['u1']; write it as key: value": [{"series": ["u1"]}],
    "the catalog: series: expected a string as name, found 1; put it in quotes": [{"series": {1: {}}}],
    "the catalog: labels: expected an object, found 'a'; write it as key: value": [{"labels": "a"}],
    "series.web: unknown key 'size'; did you mean sizes?": [{"series": {"web": {"size": {}}}}],
    "series.web.sizes.small: unknown key 'mem'; did you mean memory?": [size(mem="1Gi")],
    "series.web.sizes.small: unknown key 'sizes'; choose from cpu, max_sockets, memory, hugepages, display_name, "
    "description, icon, docs_url, support_url, tags, deprecated, obsolete, labels, annotations, spec, extends": [
        size(sizes={})
    ],
    "series.web.sizes.small: extends: 'wbe' is not in series; did you mean web?": [size(extends="wbe")],
    "series.web.sizes.small: extends: {} is not in series; choose from web": [size(extends=[{}])],
    "series.b: extends: a > b > a is a cycle; remove one of these references": [
        {"series": {"a": {"extends": "b"}, "b": {"extends": "a"}}}
    ],
    "series.web.sizes.small: cpu: spec.cpu.guest: is set twice, as 2 and as 1; remove one of them": [
        size(spec={"cpu": {"guest": 2}})
    ],
    "instancetype web.small: spec.memory.guest: '4GB' is not a quantity; write a quantity such as 512Mi, 4Gi or 4G": [
        size(memory="4GB")
    ],
    "instancetype web.small: spec.memory.guest: required in an instancetype, for example 4Gi": [size(memory=None)],
    "instancetype web.small: spec.cpu.guest: required in an instancetype, for example 2": [size(cpu=None)],
    "instancetype web.small: spec.cpu.guest: expected a whole number, found 'two'": [size(cpu="two")],
    "instancetype web.small: spec.cpu.maxsockets: unknown field; did you mean maxSockets?": [
        size(spec={"cpu": {"maxsockets": 2}})
    ],
    "instancetype web.small: spec.ioThreadsPolicy: 'on' is not a valid value; "
    "choose from auto, shared, supplementalPool": [size(spec={"ioThreadsPolicy": "on"})],
    "instancetype web.small: spec.gpus[0].devicename: unknown field; did you mean deviceName?": [
        size(spec={"gpus": [{"name": "gpu", "devicename": "nvidia.com/A100"}]})
    ],
    f"instancetype web.small: labels.version: expected a string, found 1{AS_TEXT}": [size(labels={"version": 1})],
    "instancetype web.small: name: series.web.sizes.small and series.web.sizes.small have the same name;"
    " rename or remove one of them": [
        size(),
        size(cpu=2),
    ],
    "instancetype web.S: name: 'web.S' must consist of a-z, 0-9, '-' and '.', with a letter or digit at both ends and "
    "around each dot; write a name such as web-1": [{"series": {"web": {"sizes": {"S": {"cpu": 1, "memory": "1Gi"}}}}}],
    "families.acme.preferences.acme: unknown key 'requires.cpus'; did you mean requires.cpu?": [
        preference(requires={"cpus": 1})
    ],
    "families.acme.preferences.acme: tags: expected a list of texts, found ['acme', 9]; put it in quotes": [
        preference(tags=["acme", 9])
    ],
    "families.acme.preferences.acme: requires: expected an object, found 2; write it as key: value": [
        preference(requires=2)
    ],
    "preference acme: spec.devices.preferredDiskBus: 'virtoi' is not a valid value; did you mean virtio?": [
        preference(spec={"devices": {"preferredDiskBus": "virtoi"}})
    ],
    "preference acme: name: families.acme.preferences.acme and manifest 1 have the same name; rename or"
    " remove one of them": [
        preference(os="linux"),
        MANIFEST,
    ],
    "manifest 0: kind: 'Pod' is neither an instancetype nor a preference; remove it": [{"kind": "Pod"}],
    "manifest 0: kind: [] is neither an instancetype nor a preference; remove it": [{"kind": []}],
    "manifest 0 (VirtualMachinePreference): apiVersion: 'v1' is not supported; use instancetype.kubevirt.io/v1beta1": [
        {**MANIFEST, "apiVersion": "v1"}
    ],
    "manifest 0 (VirtualMachinePreference): metadata: expected an object, found 'a'": [{**MANIFEST, "metadata": "a"}],
    "preference None: name: expected a string, found None; put it in quotes": [{**MANIFEST, "metadata": {}}],
}


@pytest.mark.parametrize("message", MISTAKES)
def test_invalid_definitions_are_reported_on_one_line(message: str) -> None:
    with pytest.raises(CatalogError) as caught:
        expand_catalog(*MISTAKES[message])

    assert str(caught.value) == message


KEYS = [
    "series", "families", "sizes", "preferences", "extends", "labels", "annotations", "spec", "cpu", "memory", "os",
    "requires", "display_name", "description", "hugepages", "a", "b", "guest", "devices", "kind", "metadata", "name",
]  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from([*KEYS, "1Gi", ""]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(VALUES)
def test_arbitrary_input_expands_or_fails_in_one_line(value: Any) -> None:
    before = copy.deepcopy(value)
    for source in (value, {"series": {"a": value, "b": {"sizes": {"x": value}}}}, {"families": {"a": value}}):
        try:
            expand_catalog(source)
        except CatalogError as error:
            assert "\n" not in str(error)

    assert value == before


def test_examples_of_the_readme() -> None:
    readme = (BUILTIN.parents[1] / "README.md").read_text(encoding="utf-8")
    examples = [yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", readme, re.DOTALL)]
    catalogs = [example for example in examples if isinstance(example, dict)]

    assert names(expand_catalog(*catalogs)) == [
        "web.small", "web.large", "db.large", "db.huge", "acme.9", "acme.9.secure", "acme.8", "api.small", "api.large",
    ]  # fmt: skip
    older = expand_catalog(*catalogs, version="v1")
    assert "api.large" not in names(older)
    assert next(item["spec"]["cpu"] for item in older if names([item]) == ["api.small"]) == {"guest": 1}


# Manifests, selection, adaptation.


def test_manifests_are_taken_once_as_cluster_wide_kinds() -> None:
    cluster = {**MANIFEST, "kind": "VirtualMachineClusterPreference", "metadata": {"name": "acme"}}
    future = {**MANIFEST, "metadata": {"name": "new"}, "spec": {"notYetKnown": {"a": 1}}}

    assert expand_catalog(MANIFEST, cluster, future) == [
        {**cluster, "spec": {}},
        {**cluster, "metadata": {"name": "new"}, "spec": {"notYetKnown": {"a": 1}}},
    ]


def test_select_filters_by_role_series_size_name(builtin: list[dict[str, Any]]) -> None:
    assert select(builtin) == builtin
    assert len(select(builtin, matcher_field=INSTANCETYPE)) == 65
    assert len(select(builtin, matcher_field=PREFERENCE, series=[])) == 54
    assert names(select(builtin, matcher_field=INSTANCETYPE, series=["u*", "o1"], sizes=["nano"])) == [
        "u1.nano",
        "o1.nano",
    ]
    assert names(select(builtin, names=["*.11", "n1.medium"])) == ["n1.medium", "windows.11"]
    # Preferences have no series.
    assert len(select(builtin, series=["rt1"])) == 8 + 54


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"series": ["u1", "u2"]},
            "series: nothing in the catalog matches 'u2'; choose from u1, o1, m1, d1,",
        ),
        ({"sizes": ["tiny"]}, "sizes: nothing in the catalog matches 'tiny'"),
        ({"names": ["fedora", "fedroa"]}, "names: nothing in the catalog matches 'fedroa'; did you mean fedora"),
        ({"series": ["cx1"], "sizes": ["nano"]}, "sizes: nothing in the catalog matches 'nano'"),
        ({"matcher_field": PREFERENCE, "series": ["u1"]}, "series: nothing in the catalog matches 'u1'"),
    ],
)
def test_selection_without_a_match_is_refused(
    builtin: list[dict[str, Any]], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(CatalogError) as caught:
        select(builtin, **options)

    assert str(caught.value).startswith(message)


def test_adapt_sets_namespace_labels_and_prefix(builtin: list[dict[str, Any]]) -> None:
    before = copy.deepcopy(builtin)
    vendor = f"{PREFIX}vendor"

    adapted = adapt(builtin, namespace="web", labels={vendor: "acme"}, name_prefix="acme.")

    assert builtin == before
    assert adapt(builtin) == builtin
    for old, new in zip(builtin, adapted):
        assert new["kind"] == old["kind"].replace("Cluster", "")
        assert new["metadata"]["namespace"] == "web"
        assert new["metadata"]["name"] == f"acme.{old['metadata']['name']}"
        assert new["metadata"]["labels"] == {**old["metadata"]["labels"], vendor: "acme"}
        assert (new["spec"], new["metadata"]["annotations"]) == (old["spec"], old["metadata"]["annotations"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": {"a": 1}}, f"instancetype u1.nano: labels.a: expected a string, found 1{AS_TEXT}"),
        ({"name_prefix": "A_"}, "instancetype A_u1.nano: name: 'A_u1.nano' must consist of a-z, 0-9, '-' and '.'"),
    ],
)
def test_adapt_refuses_invalid_options(builtin: list[dict[str, Any]], options: dict[str, Any], message: str) -> None:
    with pytest.raises(CatalogError) as caught:
        adapt(builtin, **options)

    assert str(caught.value).startswith(message)


def test_list_entries_are_validated_individually() -> None:
    gpus = [{"name": "a", "deviceName": "nvidia.com/A100"}, {"name": "b", "deviceName": "nvidia.com/A30"}]
    assert expand_catalog(size(spec={"gpus": gpus}))[0]["spec"]["gpus"] == gpus
    with pytest.raises(CatalogError, match=r"spec\.gpus\[1\]\.devicename: unknown field"):
        expand_catalog(size(spec={"gpus": [gpus[0], {"name": "b", "devicename": "x"}]}))
