"""Options of the module virtual_machine that virtctl does not have, and how they come together.

tests/virtctl compares the other options with virtctl.
"""

import copy
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from plugins.module_utils._resolver.api.errors import FieldError
from plugins.module_utils._resolver.declare.vm.manifest import import_options, manifest, warnings
from plugins.module_utils._resolver.declare.vm.volumes import generated_name
from plugins.module_utils._vm_options import VM_OPTIONS


def vmi(**options: Any) -> dict[str, Any]:
    spec: dict[str, Any] = manifest({"name": "a", **options})["spec"]["template"]["spec"]
    return spec


def refused(**options: Any) -> str:
    with pytest.raises(FieldError) as error:
        manifest({"name": "a", **options})
    return str(error.value)


def test_imported_claims_come_with_their_options() -> None:
    disk = {"import": {"name": "data", "blank": True, "size": "1Gi", "of_a_capability": "x"}}
    fixed = {"import": {"name": "logs", "blank": True, "size": "1Gi"}}
    boot = {"data_source": "fedora", "size": "1Gi", "of_a_capability": "y"}
    imports = import_options({"name": "a", "boot": boot, "volumes": [disk, fixed]})
    paths = {"a-boot": "boot", "data": "volumes[0].import", "logs": "volumes[1].import"}
    assert {claim: found.path for claim, found in imports.items()} == paths
    own = {claim: found.options.get("of_a_capability") for claim, found in imports.items()}
    assert own == {"a-boot": "y", "data": "x", "logs": None}


def test_deleted_vm_is_only_named() -> None:
    invalid = {"memory": "much", "template": {"spec": []}, "labels": {"tier": "web"}, "boot": {}}
    with pytest.raises(FieldError):
        manifest({"name": "a", "namespace": "shop", **invalid})
    deleted = manifest({"name": "a", "namespace": "shop", "state": "absent", **invalid})
    assert deleted["metadata"] == {"name": "a", "namespace": "shop"}
    assert refused(state="absent", namespace="Shop").startswith("namespace:")


def test_generated_names_depend_only_on_the_vm() -> None:
    blank = {"volumes": [{"import": {"blank": True, "size": "1Gi"}}, {"import": {"blank": True, "size": "1Gi"}}]}
    names = [volume["name"] for volume in vmi(**blank)["volumes"]]
    assert names == [volume["name"] for volume in vmi(**blank)["volumes"]]
    others = [volume["name"] for volume in vmi(**{**blank, "name": "b"})["volumes"]]
    assert len({*names, *others}) == 4
    assert generated_name("x", "a", "bc") != generated_name("x", "ab", "c")
    # It must not change between releases: a second run would make a second VM.
    assert generated_name("vm", "a", "b") == "vm-th29g"


def test_data_volume_is_named_after_vm_and_volume() -> None:
    source = {"blank": True, "size": "1Gi"}
    result = manifest({"name": "a", "volumes": [{"name": "root", "import": source}]})["spec"]
    assert result["dataVolumeTemplates"][0]["metadata"] == {"name": "a-root"}
    assert result["template"]["spec"]["volumes"] == [{"name": "root", "dataVolume": {"name": "a-root"}}]
    assert vmi(volumes=[{"name": "root", "import": {**source, "name": "own"}}])["volumes"][0]["dataVolume"] == {
        "name": "own"
    }


def test_storage_of_an_import() -> None:
    options = {
        "snapshot": {"name": "s", "namespace": "n"},
        "size": "1024Mi",
        "storage_class": "fast",
        "access_modes": ["ReadWriteMany"],
        "volume_mode": "Block",
    }
    result = manifest({"name": "a", "volumes": [{"import": options}]})["spec"]["dataVolumeTemplates"][0]["spec"]
    assert result == {
        "source": {"snapshot": {"name": "s", "namespace": "n"}},
        "storage": {
            "resources": {"requests": {"storage": "1Gi"}},
            "storageClassName": "fast",
            "accessModes": ["ReadWriteMany"],
            "volumeMode": "Block",
        },
    }


BOOT = {
    "data_source": ({"data_source": "golden/fedora", "size": "10Gi"}, "sourceRef"),
    "url": ({"url": "https://example.com/a.qcow2"}, "http"),
    "docker": ({"url": "docker://example.com/a"}, "registry"),
    "gs": ({"url": "gs://bucket/a"}, "gcs"),
}


@pytest.mark.parametrize("case", BOOT)
def test_boot_creates_a_data_volume(case: str) -> None:
    boot, source = BOOT[case]
    spec = manifest({"name": "web", "boot": boot})["spec"]
    template = spec["dataVolumeTemplates"][0]
    assert template["metadata"] == {"name": "web-boot"}
    assert source in {**template["spec"], **template["spec"].get("source", {})}
    size = template["spec"]["storage"]["resources"]["requests"]["storage"]
    assert size == boot.get("size", "30Gi")
    assert spec["template"]["spec"]["volumes"] == [{"name": "boot", "dataVolume": {"name": "web-boot"}}]


@pytest.mark.parametrize("boot", [{"data_source": "fedora"}, {"pvc": "disk"}])
def test_boot_infers_both(boot: dict[str, str]) -> None:
    spec = manifest({"name": "a", "boot": boot, "volumes": [{"container_disk": "b", "boot_order": 1}]})["spec"]
    assert spec["instancetype"] == spec["preference"] == {"inferFromVolume": "boot"}


def test_boot_infers_missing_matchers() -> None:
    boot = {"pvc": "disk"}
    named = manifest({"name": "a", "boot": boot, "instancetype": {"name": "u1.small"}})["spec"]
    assert (named["instancetype"], named["preference"]) == ({"name": "u1.small"}, {"inferFromVolume": "boot"})
    sized = manifest({"name": "a", "boot": boot, "cpu": {"cores": 2}})["spec"]
    assert "instancetype" not in sized
    raw = manifest({"name": "a", "boot": boot, "template": {"spec": {"domain": {"memory": {"guest": "1Gi"}}}}})["spec"]
    assert "instancetype" not in raw
    assert "preference" in raw
    raw = manifest({"name": "a", "boot": boot, "spec": {"instancetype": {"name": "x"}}})["spec"]
    assert raw["instancetype"] == {"name": "x"}
    item = manifest({"name": "a", "boot": boot, "preference": {"infer": "none"}})["spec"]
    assert ("instancetype" in item, "preference" in item) == (True, False)


def test_boot_from_a_disk_without_labels_warns() -> None:
    options = {"name": "a", "boot": {"container_disk": "x"}}
    assert "instancetype" not in manifest(options)["spec"]
    assert "512Mi" in warnings(options)[0]
    for more in ({"memory": "1Gi"}, {"instancetype": {"name": "x"}}, {"instancetype": {"infer": "none"}}):
        assert warnings({**options, **more}) == []
    assert "neither a PVC nor a DataVolume" in refused(boot={"container_disk": "x"}, preference={"infer": "required"})


def test_automatic_inference_ignores_failure() -> None:
    both = {"instancetype": {"infer": "auto"}, "preference": {"infer": "auto"}}
    spec = manifest({"name": "a", "boot": {"pvc": "disk"}, **both})["spec"]
    assert spec["instancetype"] == {"inferFromVolume": "boot", "inferFromVolumeFailurePolicy": "Ignore"}
    assert not both.keys() & manifest({"name": "a", "boot": {"container_disk": "x"}, **both})["spec"].keys()
    sized = manifest({"name": "a", "boot": {"pvc": "disk"}, "memory": "1Gi", **both})["spec"]
    assert ("instancetype" in sized, "preference" in sized) == (False, True)


@pytest.mark.parametrize("text", ["a/b/c", "/a", "a/"])
def test_a_data_source_may_name_a_namespace(text: str) -> None:
    assert "neither a name nor namespace/name" in refused(boot={"data_source": text})


@pytest.mark.parametrize("url", ["ftp://a/b", "example.com/a", "s3"])
def test_other_addresses_are_errors(url: str) -> None:
    assert refused(boot={"url": url}).startswith("boot.url: must begin with one of http://, ")


def test_volumes_of_the_template_can_be_inferred_from() -> None:
    template = {"spec": {"volumes": [{"name": "root", "persistentVolumeClaim": {"claimName": "c"}}]}}
    spec = manifest({"name": "a", "template": template, "instancetype": {"infer": "required"}})["spec"]
    assert spec["instancetype"] == {"inferFromVolume": "root"}


def test_inference_can_use_an_existing_data_volume() -> None:
    options = {"infer_from_volume": "root"}
    spec = manifest({"name": "a", "volumes": [{"data_volume": "root"}], "preference": options})["spec"]
    assert spec["preference"] == {"inferFromVolume": "root"}


def test_memory_and_instancetype_exclude_each_other() -> None:
    assert refused(memory="1Gi", instancetype={"name": "x"}).startswith("memory: cannot be combined with instancetype")


KEY = "ssh-ed25519 AAAA"


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("~/.ssh/id_ed25519.pub", "'~/.ssh/id_ed25519.pub' is a path, not a public key; write the public key itself"),
        ("id.pub", "'id.pub' is a path"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----\nhunter2", "is a private key; write"),
        (" \n", "is empty; write"),
        ("# only a comment", "is empty; write"),
        ("hunter2", "is not a public SSH key, which starts with a type such as ssh-ed25519; write"),
        (f"{KEY}\nhunter2", "is not a public SSH key"),
        ("ssh-ed25519 hunter2!", "is a public SSH key whose data are not valid base64; write"),
        ("ssh-ed25519 AAAAA", "is a public SSH key whose data are not valid base64; write"),
    ],
)
def test_ssh_keys_must_be_public_keys(key: str, reason: str) -> None:
    message = refused(cloud_init={"ssh_keys": [KEY, key]})
    assert message.startswith(f"cloud_init.ssh_keys[1]: {reason}")
    assert "lookup('ansible.builtin.file', " in message and "hunter2" not in message


@pytest.mark.parametrize(
    "key",
    [
        f"{KEY}\n",
        f"# mine\n{KEY} me@host\n\n{KEY} you@host",
        "sk-ssh-ed25519@openssh.com AAAA",
        "ecdsa-sha2-nistp256 AAAA",
        'from="10.0.0.0/8",no-pty ssh-rsa AAAA me',
    ],
)
def test_public_keys_are_written_as_given(key: str) -> None:
    data = vmi(cloud_init={"ssh_keys": [key]})["volumes"][0]["cloudInitNoCloud"]["userData"]
    assert yaml.safe_load(data)["ssh_authorized_keys"] == [key]


@pytest.mark.parametrize(
    "text", ["a: b", "#x", "007", "yes", " x", "x ", 'it\'s: "y"', "ä #b", "a\nb", "-", "&a", "1e3"]
)
def test_ambiguous_yaml_scalars_are_quoted(text: str) -> None:
    result = vmi(cloud_init={"user": text, "password": text, "ssh_keys": [f"{KEY} {text!r}: #"]})["volumes"][0]
    read = yaml.safe_load(result["cloudInitNoCloud"]["userData"])
    assert (read["user"], read["password"], read["ssh_authorized_keys"]) == (text, text, [f"{KEY} {text!r}: #"])


def test_plain_yaml_scalars_are_not_quoted() -> None:
    data = vmi(cloud_init={"user": "me", "ssh_keys": ["ssh-ed25519 AAAA/+A= me@host"]})["volumes"][0][
        "cloudInitNoCloud"
    ]
    assert '"' not in data["userData"]


def test_the_users_own_cloud_init_volume_stays() -> None:
    own = {"name": "init", "cloud_init": {"user_data": "x"}}
    credential = {"secret": "keys", "users": ["me"]}
    spec = vmi(volumes=[own], access_credentials=[credential])
    assert [volume["name"] for volume in spec["volumes"]] == ["init"]
    assert len(vmi(access_credentials=[credential])["volumes"]) == 1


def test_user_data_in_clear_text() -> None:
    result = vmi(cloud_init={"user_data": "x", "network_data": "y", "type": "configdrive"})["volumes"][0]
    assert result == {"name": "cloudinitdisk", "cloudInitConfigDrive": {"userData": "x", "networkData": "y"}}


def test_networks() -> None:
    spec = vmi(
        networks=[
            {"ports": [{"port": 80, "name": None, "protocol": "TCP"}]},
            {"name": "fast", "multus": "ns/fast", "binding": "sriov", "boot_order": 2},
            {"name": "odd", "multus": "odd", "binding_plugin": "passt", "model": "e1000e"},
        ]
    )
    assert spec["networks"] == [
        {"name": "default", "pod": {}},
        {"name": "fast", "multus": {"networkName": "ns/fast"}},
        {"name": "odd", "multus": {"networkName": "odd"}},
    ]
    assert spec["domain"]["devices"]["interfaces"] == [
        {"name": "default", "masquerade": {}, "ports": [{"port": 80, "protocol": "TCP"}]},
        {"name": "fast", "sriov": {}, "bootOrder": 2},
        {"name": "odd", "binding": {"name": "passt"}, "model": "e1000e"},
    ]
    assert "another network is already named 'x'" in refused(networks=[{"name": "x"}, {"name": "x"}])


def test_efi_and_tpm() -> None:
    domain = vmi(efi={}, tpm={})["domain"]
    assert domain["firmware"] == {"bootloader": {"efi": {}}}
    assert domain["features"] == {"smm": {"enabled": True}}
    assert domain["devices"] == {"tpm": {}}
    domain = vmi(efi={"secure_boot": False, "persistent": True}, tpm={"persistent": True})["domain"]
    assert domain["firmware"] == {"bootloader": {"efi": {"secureBoot": False, "persistent": True}}}
    assert "features" not in domain
    assert domain["devices"] == {"tpm": {"persistent": True}}


def test_placement() -> None:
    spec = vmi(node_selector={"a": "b"}, tolerations=[{"key": "x"}], eviction_strategy="None")
    assert (spec["nodeSelector"], spec["tolerations"], spec["evictionStrategy"]) == ({"a": "b"}, [{"key": "x"}], "None")


@pytest.mark.parametrize(
    ("volume", "result"),
    [
        ({"container_disk": None}, "volumes[0]: requires exactly one of "),
        ({"container_disk": ""}, "volumes[0].container_disk: is empty"),
        # The limit is in bytes.
        ({"container_disk": "a", "name": "ü" * 32}, f"volumes[0].name: '{'ü' * 32}' is longer than 63 characters and"),
        ({"empty_disk": "1GB"}, "volumes[0].empty_disk: '1GB' is not a quantity"),
        ({"container_disk": "a", "boot_order": 2**32}, "volumes[0].boot_order: 4294967296 is too large"),
        ({"import": {"blank": True}}, "volumes[0].import.size: required"),
        ({"import": {"blank": True, "size": "1Gi", "name": "A"}}, "volumes[0].import.name: 'A' must consist of "),
        ({"sysprep": {"secret": ""}}, "volumes[0].sysprep: requires exactly one of "),
    ],
)
def test_invalid_volume_is_refused(volume: dict[str, Any], result: str) -> None:
    assert refused(volumes=[volume]).startswith(result)


def test_input_options_are_not_modified() -> None:
    options = {
        "name": "a",
        "boot": {"data_source": "x"},
        "volumes": [{"import": {"blank": True, "size": "1Gi"}}],
        "cloud_init": {"user": "me"},
        "access_credentials": [{"secret": "k"}],
        "template": {"spec": {"volumes": [{"name": "z", "emptyDisk": {"capacity": "1Gi"}}]}},
    }
    before = copy.deepcopy(options)
    assert manifest(options) == manifest(options)
    warnings(options)
    assert options == before


def test_naming_a_volume_without_labels_is_an_error() -> None:
    volumes = [{"name": "disk", "container_disk": "x"}]
    assert refused(volumes=volumes, preference={"infer_from_volume": "disk"}).startswith(
        "preference.infer: 'disk' is neither a PVC nor a DataVolume"
    )


@pytest.mark.parametrize(
    ("options", "result"),
    [
        (
            {"users": ["me"]},
            "access_credentials[0].secret: required; set it to the name of the Secret with the keys or passwords",
        ),
        (
            {"secret": "s", "type": "password", "method": "nocloud"},
            "access_credentials[0].method: nocloud does not work with passwords; use ga",
        ),
    ],
)
def test_invalid_credential_is_refused(options: dict[str, Any], result: str) -> None:
    assert refused(access_credentials=[options]) == result


def test_boot_needs_a_disk() -> None:
    assert refused(boot={"pvc": "", "size": "1Gi"}) == "boot: requires one of data_source, pvc, container_disk and url"


@pytest.mark.parametrize(
    ("source", "result"),
    [
        ({"blank": False}, "volumes[0].import: requires exactly one of "),
        ({"http": {"url": ""}}, "volumes[0].import.http.url: required for this source"),
        ({"registry": {"url": ""}}, "volumes[0].import.registry: requires exactly one of url and image_stream"),
    ],
)
def test_import_of_nothing_is_refused(source: dict[str, Any], result: str) -> None:
    options = {"volumes": [{"import": {"size": "1Gi", **source}}]}
    assert not ArgumentSpecValidator(VM_OPTIONS.spec).validate(options).error_messages
    assert refused(**options).startswith(result)


@pytest.mark.parametrize(
    "options",
    [
        {"boot": {"pvc": "a", "url": "http://x"}},
        {"boot": {"size": "1Gi"}},
        {"volumes": [{}]},
        {"volumes": [{"container_disk": "a", "empty_disk": "1Gi"}]},
        {"volumes": [{"import": {"size": "1Gi"}}]},
        {"volumes": [{"import": {"blank": True, "http": {"url": "http://x"}}}]},
        {"volumes": [{"import": {"registry": {}}}]},
        {"volumes": [{"import": {"registry": {"url": "docker://x", "image_stream": "x"}}}]},
        {"volumes": [{"sysprep": {}}]},
        {"sysprep": {"secret": "a", "config_map": "b"}},
    ],
)
def test_ansible_requires_exactly_one_source(options: dict[str, Any]) -> None:
    (message,) = ArgumentSpecValidator(VM_OPTIONS.spec).validate(options).error_messages
    assert message.startswith(("parameters are mutually exclusive: ", "one of the following is required: "))


def test_secret_options_are_marked_no_log() -> None:
    def marked(spec: dict[str, Any]) -> Iterator[str]:
        for name, option in spec.items():
            if option.get("no_log"):
                yield name
            yield from marked(option.get("options", {}))

    data = {"user_data", "user_data_base64", "network_data", "network_data_base64"}
    assert set(marked(VM_OPTIONS.spec)) == {*data, "password", "extra_headers"}


def test_text_in_place_of_volumes_is_named() -> None:
    """No size can be inferred from it."""
    options = {"name": "web", "namespace": "shop", "template": {"spec": {"volumes": ["text"]}}}
    with pytest.raises(FieldError, match=r"^spec\.template\.spec\.volumes\[0\]: expected an object, found 'text'"):
        manifest({**options, "instancetype": {"infer": True}})
