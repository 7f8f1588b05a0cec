"""The public names: what users write and read by name, which only a new major version may change.

`generate_docs.py` writes them to `docs/public_names.txt`, so that each change of one is seen in a diff.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

import module_docs  # noqa: E402

from plugins.module_utils._diagnosis.chain import CHAIN, OTHER  # noqa: E402
from plugins.module_utils._events.facts import TRANSITIONS  # noqa: E402
from plugins.module_utils._resolver.api import keys  # noqa: E402
from plugins.plugin_utils._check.findings import RULES  # noqa: E402

PLUGINS = ROOT / "plugins"
# docs/stability.md says why these are not promised.
_PRIVATE = ("revision_rollout", "demo")
_COLLECTION = "virtshape.instancetypes."


def page() -> str:
    """The list: a heading for each place, and its names in order."""
    parts = ("\n".join((f"# {heading}", *names)) for heading, names in _sections())
    return "\n\n".join(parts) + "\n"


def _sections() -> Iterator[tuple[str, Iterable[str]]]:
    shared = _fragment("auth")
    yield "options of all modules and the inventory", _options(shared)
    results: dict[str, list[str]] = {}
    for key in module_docs.result_keys():
        results.setdefault(key.module, []).append(key.path)
    for path in sorted((PLUGINS / "modules").glob("*.py")):
        if path.stem not in _PRIVATE:
            options = _plugin_options(module_docs.documentation(path), shared)
            yield f"module {path.stem}: options", _options(options, entries=f"{path.stem}s")
            yield f"module {path.stem}: results", results.get(path.stem, [])
    for path in sorted((PLUGINS / "filter").glob("[!_]*.yml")):
        documented = yaml.safe_load(path.read_text(encoding="utf-8"))["DOCUMENTATION"]
        yield f"filter {path.stem}", _options(_plugin_options(documented, {}))
    inventory = module_docs.documentation(PLUGINS / "inventory" / "virtual_machines.py")
    yield "inventory virtual_machines", _options(_plugin_options(inventory, shared))
    for path in sorted((ROOT / "roles").glob("*/meta/argument_specs.yml")):
        specs = yaml.safe_load(path.read_text(encoding="utf-8"))["argument_specs"]
        yield f"role {path.parts[-3]}", _options(specs["main"]["options"])
    for path in sorted((ROOT / "playbooks").glob("*.yml")):
        if path.stem not in _PRIVATE:
            yield f"playbook {path.stem}", sorted(_variables(path))
    source = ROOT / "extensions" / "eda" / "plugins" / "event_source" / "virtual_machines.py"
    yield "event source virtual_machines", _options(module_docs.documentation(source)["options"])
    yield "transitions of events", TRANSITIONS
    yield "rulebooks", sorted(path.stem for path in (ROOT / "extensions" / "eda" / "rulebooks").glob("*.yml"))
    yield "links of a diagnosis", [*dict.fromkeys(link.name for link in CHAIN), OTHER]
    yield "rules of the check", RULES
    yield "labels and annotations", _keys()
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    yield "hooks of pre-commit", [hook["id"] for hook in hooks]
    yield "inputs of the action", yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["inputs"]


def _options(options: Mapping[str, Any], above: str = "", entries: str = "") -> Iterator[str]:
    """A line for each option, with aliases and choices. entries: a list whose entries take the same options."""
    for name, option in sorted(options.items()):
        if name.startswith("_") and name != "_input":
            continue
        aliases = "".join(f"|{alias}" for alias in option.get("aliases") or ())
        choices = ", ".join(map(str, option.get("choices") or ()))
        yield f"{above}{name}{aliases}{f': {choices}' if choices else ''}"
        if name != entries:
            below = f"{above}{name}{'[]' if option.get('type') == 'list' else ''}."
            yield from _options(option.get("suboptions") or option.get("options") or {}, below)


def _plugin_options(documented: Mapping[str, Any], shared: Mapping[str, Any]) -> dict[str, Any]:
    """All options of a plugin, those of its fragments too, without the shared ones."""
    options: dict[str, Any] = {}
    fragments = documented.get("extends_documentation_fragment") or []
    for name in [fragments] if isinstance(fragments, str) else fragments:
        # The others are of ansible-core.
        if name.startswith(_COLLECTION):
            options |= _fragment(name.removeprefix(_COLLECTION))
    options |= documented.get("options") or {}
    return {name: option for name, option in options.items() if name not in shared}


def _fragment(name: str) -> dict[str, Any]:
    """The options of a doc fragment, such as `writes` or `writes.dry_run`."""
    file, _, part = name.partition(".")
    documented = module_docs.documentation(PLUGINS / "doc_fragments" / f"{file}.py", part.upper() or "DOCUMENTATION")
    options: dict[str, Any] = documented.get("options") or {}
    return options


def _variables(playbook: Path) -> set[str]:
    """The variables of a playbook's plays that users may set."""
    names: set[str] = set()
    for play in yaml.safe_load(playbook.read_text(encoding="utf-8")):
        for file in play.get("vars_files") or ():
            names |= yaml.safe_load((playbook.parent / file).read_text(encoding="utf-8")).keys()
        names |= (play.get("vars") or {}).keys()
    return {name for name in names if not name.startswith(("_", "ansible_", "limit_"))}


def _keys() -> list[str]:
    return sorted(value for name, value in vars(keys).items() if name.endswith(("_LABEL", "_ANNOTATION")))
