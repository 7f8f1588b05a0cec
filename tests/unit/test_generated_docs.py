"""The doc fragments say what the code does: the generated ones are up to date, the others agree with it."""

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
from loaded_files import load

from plugins.doc_fragments import attributes, auth, declare, instancetype_options, preference_options, selection, writes
from plugins.module_utils._cluster.modules.module import ON_FAILURE
from plugins.module_utils._cluster.modules.shared_options import (
    AUTH,
    CONCURRENCY,
    DRY_RUN,
    FAIL_FAST,
    OWNERSHIP,
    PREFLIGHT,
    REQUESTS,
    SELECTION,
    WAIT,
)
from plugins.module_utils._resolver.api import schema
from plugins.module_utils._resolver.declare import argument_spec
from plugins.module_utils._vm_options import VM_OPTIONS

CHECKOUT = Path(__file__).resolve().parents[2]
ALL = {
    "attributes": attributes,
    "auth": auth,
    "declare": declare,
    "instancetype_options": instancetype_options,
    "preference_options": preference_options,
    "selection": selection,
    "writes": writes,
}


PLUGINS = "ansible_collections.virtshape.instancetypes.plugins"


class Asked(BaseException):
    """The module has said which options it takes."""


@pytest.fixture
def generate_docs() -> ModuleType:
    return load(CHECKOUT / "tools" / "generate_docs.py")


@pytest.fixture
def module_docs() -> ModuleType:
    return load(CHECKOUT / "tools" / "module_docs.py")


def documentation(fragment: ModuleType, part: str = "DOCUMENTATION") -> dict[str, Any]:
    result: dict[str, Any] = yaml.safe_load(getattr(fragment.ModuleDocFragment, part))
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


def paths(spec: dict[str, Any], above: str = "") -> Iterator[str]:
    """Every option of an argument spec."""
    for name, option in spec.items():
        yield above + name
        yield from paths(option.get("options", {}), f"{above}{name}.")


def test_exactly_the_options_are_described(generate_docs: ModuleType) -> None:
    declared = generate_docs.MODULES
    types = [item.type_name for item in declared.values() if item.type_name]
    fields = {result for type_name in types for result in fields_below(type_name)}
    own = {
        (module, path)
        for module, item in declared.items()
        for path in paths(item.spec)
        if not item.type_name or path.partition(".")[0] not in argument_spec.options(item.type_name)
    }
    texts = {
        (holder, name): text for holder, result in generate_docs.descriptions().items() for name, text in result.items()
    }
    texts |= {("virtual_machine", path): row for path, row in VM_OPTIONS.rows.items() if row.description}
    every = {result for result in texts if result[0] != "object"}
    shared = {name for holder, name in texts if holder == "object"}

    assert every <= fields | own
    missing = (fields | own) - every
    assert {name for _module, name in missing} == shared
    assert not missing & fields


def test_deprecated_field_names_its_replacement(generate_docs: ModuleType) -> None:
    assert generate_docs.described("FirmwarePreferences", "preferredUseEfi")[1] == "Use `firmware.preferredEfi`."
    assert generate_docs.described("FirmwarePreferences", "preferredUseBios")[1] == ""


def test_check_reports_a_stale_fragment_unchanged(
    generate_docs: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "plugins" / "doc_fragments").mkdir(parents=True)
    (tmp_path / "docs").mkdir()
    monkeypatch.setattr(generate_docs, "ROOT", tmp_path)
    assert generate_docs.main([]) == 0
    stale = generate_docs.fragment_path("preference")
    stale.write_text("old", encoding="utf-8")
    capsys.readouterr()

    assert generate_docs.main(["--check"]) == 1
    assert capsys.readouterr().out.split() == ["plugins/doc_fragments/preference_options.py"]
    assert stale.read_text(encoding="utf-8") == "old"


def test_markup(generate_docs: ModuleType) -> None:
    options = documentation(preference_options)["options"]
    serial, secure_boot = (
        str(options["firmware"]["suboptions"][name]["description"])
        for name in ("preferred_use_bios_serial", "preferred_use_secure_boot")
    )

    assert "O(firmware.preferred_efi.secure_boot)" in secure_boot
    assert "O(" not in serial
    assert "V(SocketsCores)" in options["cpu"]["suboptions"]["spread_options"]["suboptions"]["across"]["description"]
    assert "C(q35)" in options["machine"]["suboptions"]["preferred_machine_type"]["description"]
    assert "Needs KubeVirt 1.9 or later" in str(options["preferred_launch_security"]["description"])


@pytest.mark.parametrize("name", ALL)
def test_option_references_point_to_existing_options(name: str) -> None:
    options = documentation(ALL[name])["options"]
    known = {path for path, _option in every_option(options)}
    text = ALL[name].ModuleDocFragment.DOCUMENTATION

    assert set(re.findall(r"O\(([a-z_.]+)\)", text)) <= known
    assert "`" not in text


@pytest.mark.parametrize(
    ("fragment", "part", "spec"),
    [
        (auth, "DOCUMENTATION", {**AUTH, **REQUESTS}),
        (declare, "DOCUMENTATION", {"defaults": {"type": "dict"}, **WAIT, **PREFLIGHT}),
        (declare, "CONCURRENCY", CONCURRENCY),
        (declare, "FAIL_FAST", FAIL_FAST),
        (declare, "OWNERSHIP", OWNERSHIP),
        (selection, "DOCUMENTATION", SELECTION),
        (writes, "DOCUMENTATION", ON_FAILURE),
        (writes, "DRY_RUN", DRY_RUN),
    ],
)
def test_documentation_and_argument_spec_agree(fragment: ModuleType, part: str, spec: dict[str, Any]) -> None:
    documented = {name: without_text(option) for name, option in documentation(fragment, part)["options"].items()}

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
        path: result[0]
        for path, option in every_option(documentation(auth)["options"])
        if (result := re.findall(r"E\((K8S_AUTH_\w+)\)", str(option["description"])))
    }

    assert documented == used
    assert set(AUTH) - {"proxy_headers"} <= set(used)


def test_secrets_are_not_logged() -> None:
    hidden = {name for name, option in {**AUTH, **AUTH["proxy_headers"]["options"]}.items() if option.get("no_log")}

    assert hidden == {"api_key", "password", "basic_auth", "proxy_basic_auth"}


@pytest.mark.parametrize("name", ["virtual_machine", "instancetype", "preference", "boot_source"])
def test_module_documentation_matches_its_argument_spec(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """ansible-test and ansible-lint read what AnsibleModule is given, with the options of entries."""
    seen: dict[str, Any] = {}

    def init(_module: Any, argument_spec: dict[str, Any], **_rules: Any) -> None:
        seen.update(argument_spec)
        raise Asked

    monkeypatch.setattr(basic.AnsibleModule, "__init__", init)
    module = importlib.import_module(f"{PLUGINS}.modules.{name}")
    with pytest.raises(Asked):
        module.main()
    own = yaml.safe_load(module.DOCUMENTATION)
    options = own.get("options", {})
    for slug in own["extends_documentation_fragment"]:
        name_of_fragment, *part = slug.split(".")[2:]
        fragment = importlib.import_module(f"{PLUGINS}.doc_fragments.{name_of_fragment}")
        options |= documentation(fragment, *map(str.upper, part)).get("options", {})

    assert "suboptions" in options[f"{name}s"]
    assert {option: without_text(result) for option, result in options.items()} == {
        option: as_documented(result) for option, result in seen.items()
    }


def test_a_key_of_results_has_one_type(module_docs: ModuleType) -> None:
    types: dict[str, set[str]] = {}
    for key in module_docs.result_keys():
        if key.path.count("[]") == 1 and key.path.count(".") == 1:
            types.setdefault(key.name, set()).add(key.type)
    assert {name: result for name, result in types.items() if len(result) > 1} == {}
    assert types["needs"] == types["restart_reason"] == {"str"}
