"""The doc fragments say what the code does: those written from the schema are up to date, the others agree with it."""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from ansible.module_utils import basic

from ansible_collections.virtshape.instancetypes.plugins.doc_fragments import (
    attributes,
    auth,
    instancetype_fields,
    on_failure,
    preference_fields,
    requests,
    selection,
    wait,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.entry.argument_spec import (
    AUTH,
    REQUESTS,
    WAIT,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.entry.ending import ON_FAILURE
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.entry.selection import SELECTION
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api import schema
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.declare import argument_spec

CHECKOUT = Path(__file__).resolve().parents[2]
ALL = {
    "attributes": attributes,
    "auth": auth,
    "instancetype_fields": instancetype_fields,
    "on_failure": on_failure,
    "preference_fields": preference_fields,
    "requests": requests,
    "selection": selection,
    "wait": wait,
}


PLUGINS = "ansible_collections.virtshape.instancetypes.plugins"


class Asked(BaseException):
    """The module has said which options it takes."""


def tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, CHECKOUT / "tools" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def generate_docs() -> ModuleType:
    return tool("generate_docs")


@pytest.fixture
def module_docs() -> ModuleType:
    return tool("module_docs")


def documentation(fragment: ModuleType) -> dict[str, Any]:
    result: dict[str, Any] = yaml.safe_load(fragment.ModuleDocFragment.DOCUMENTATION)
    return result


def every_option(options: dict[str, Any], above: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    for name, option in options.items():
        yield above + name, option
        yield from every_option(option.get("suboptions", {}), f"{above}{name}.")


def as_documented(spec: dict[str, Any]) -> dict[str, Any]:
    """The part of an argument spec that a documentation repeats."""
    kept = {
        key: value
        for key, value in spec.items()
        if key in ("type", "elements", "default", "choices", "aliases", "required")
    }
    if "options" in spec:
        kept["suboptions"] = {name: as_documented(option) for name, option in spec["options"].items()}
    return kept


def without_text(option: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in option.items() if key not in ("description", "suboptions")}
    if "suboptions" in option:
        kept["suboptions"] = {name: without_text(inner) for name, inner in option["suboptions"].items()}
    return kept


def test_generated_files_are_up_to_date(generate_docs: ModuleType) -> None:
    for path, text in generate_docs.generated():
        assert path.read_text(encoding="utf-8") == text, "run tools/generate_docs.py"


def fields_below(type_name: str) -> Iterator[tuple[str, str]]:
    """Every field below a type, with the type that holds it."""
    for field in argument_spec.fields(type_name):
        yield type_name, field.name
        if (inner := field.type.removeprefix("[]")) in schema.TYPES:
            yield from fields_below(inner)


def test_every_field_is_described_in_a_sentence_and_nothing_else_is(generate_docs: ModuleType) -> None:
    fields = {found for type_name, _what in generate_docs.FRAGMENTS.values() for found in fields_below(type_name)}
    texts = {found: generate_docs.described(*found) for found in fields}
    wrong = [
        found
        for found, (text, instead) in texts.items()
        if not text.endswith(".") or not text[0].isupper() or (instead and not instead.endswith("."))
    ]

    assert wrong == []
    assert {(holder, name) for holder, found in generate_docs.descriptions().items() for name in found} == fields


def test_a_deprecated_field_says_what_to_use_instead(generate_docs: ModuleType) -> None:
    assert generate_docs.described("FirmwarePreferences", "preferredUseEfi")[1] == "Use `firmware.preferredEfi`."
    assert generate_docs.described("FirmwarePreferences", "preferredUseBios")[1] == ""


def test_check_tells_of_a_stale_fragment_and_leaves_it(
    generate_docs: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "plugins" / "doc_fragments").mkdir(parents=True)
    (tmp_path / "docs").mkdir()
    monkeypatch.setattr(generate_docs, "ROOT", tmp_path)
    assert generate_docs.main([]) == 0
    assert generate_docs.main(["--check"]) == 0
    stale = generate_docs.fragment_path("preference_fields")
    stale.write_text("old", encoding="utf-8")
    capsys.readouterr()

    assert generate_docs.main(["--check"]) == 1
    assert capsys.readouterr().out.split() == ["plugins/doc_fragments/preference_fields.py"]
    assert stale.read_text(encoding="utf-8") == "old"


def test_markup(generate_docs: ModuleType) -> None:
    options = documentation(preference_fields)["options"]
    serial, secure_boot = (
        " ".join(options["firmware"]["suboptions"][name]["description"])
        for name in ("preferred_use_bios_serial", "preferred_use_secure_boot")
    )

    assert "O(firmware.preferred_efi.secure_boot)" in secure_boot
    assert "O(" not in serial
    assert "V(SocketsCores)" in " ".join(
        options["cpu"]["suboptions"]["spread_options"]["suboptions"]["across"]["description"]
    )
    assert "C(q35)" in " ".join(options["machine"]["suboptions"]["preferred_machine_type"]["description"])
    assert "Needs KubeVirt 1.9 or later" in " ".join(options["preferred_launch_security"]["description"])


@pytest.mark.parametrize("name", ALL)
def test_references_to_options_lead_somewhere(name: str) -> None:
    options = documentation(ALL[name])["options"]
    known = {path for path, _option in every_option(options)}
    text = ALL[name].ModuleDocFragment.DOCUMENTATION

    assert set(re.findall(r"O\(([a-z_.]+)\)", text)) <= known
    assert "`" not in text


@pytest.mark.parametrize(
    ("fragment", "spec"),
    [
        (auth, AUTH),
        (requests, REQUESTS),
        (on_failure, ON_FAILURE),
        (selection, SELECTION),
        (wait, WAIT),
        (instancetype_fields, argument_spec.options("VirtualMachineInstancetypeSpec", required=False)),
        (preference_fields, argument_spec.options("VirtualMachinePreferenceSpec", required=False)),
    ],
    ids=["auth", "requests", "on_failure", "selection", "wait", "instancetype_fields", "preference_fields"],
)
def test_documentation_and_argument_spec_agree(fragment: ModuleType, spec: dict[str, Any]) -> None:
    documented = {name: without_text(option) for name, option in documentation(fragment)["options"].items()}

    assert documented == {name: as_documented(option) for name, option in spec.items()}


def test_environment_variables_are_documented() -> None:
    used = {}
    for name, option in AUTH.items():
        for path, inner in [
            (name, option),
            *((f"{name}.{key}", value) for key, value in option.get("options", {}).items()),
        ]:
            if "fallback" in inner:
                used[path] = inner["fallback"][1][0]
    documented = {
        path: found[0]
        for path, option in every_option(documentation(auth)["options"])
        if (found := re.findall(r"E\((K8S_AUTH_\w+)\)", " ".join(option["description"])))
    }

    assert documented == used
    assert set(AUTH) - {"proxy_headers"} <= set(used)


def test_secrets_are_not_logged() -> None:
    hidden = {name for name, option in {**AUTH, **AUTH["proxy_headers"]["options"]}.items() if option.get("no_log")}

    assert hidden == {"api_key", "password", "basic_auth", "proxy_basic_auth"}


@pytest.mark.parametrize("name", ["virtual_machine", "instancetype", "preference"])
def test_tools_see_the_options_of_entries_and_the_module_does_not_check_them_twice(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ansible-test and ansible-lint read what AnsibleModule is given; a task validates its entries itself."""
    seen: dict[str, Any] = {}

    def init(_module: Any, argument_spec: dict[str, Any], **_rules: Any) -> None:
        seen.update(argument_spec)
        raise Asked

    monkeypatch.setattr(basic.AnsibleModule, "__init__", init)
    with pytest.raises(Asked):
        importlib.import_module(f"{PLUGINS}.modules.{name}").main()
    fragment = importlib.import_module(f"{PLUGINS}.doc_fragments.{name}_entries").ModuleDocFragment
    (option, documented), *_none = yaml.safe_load(fragment.DOCUMENTATION)["options"].items()
    assert without_text(documented) == as_documented(seen[option])


def test_a_key_of_results_has_one_type(module_docs: ModuleType) -> None:
    types: dict[str, set[str]] = {}
    for key in module_docs.result_keys():
        if key.path.count("[]") == 1 and key.path.count(".") == 1:
            types.setdefault(key.name, set()).add(key.type)
    assert {name: found for name, found in types.items() if len(found) > 1} == {}
    assert types["needs"] == types["restart_reason"] == {"str"}
