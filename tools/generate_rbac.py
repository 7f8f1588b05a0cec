"""Writes the RBAC manifests and the table in docs/rbac from docs/rbac/rights.yml.

With --check it writes nothing and exits 1 if a file is not up to date, is missing or is one too many.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

import yaml

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "rbac"
SOURCE = "rights.yml"

# Of the kinds that occur in the table, those that are in no namespace.
_CLUSTER_WIDE = (
    "validatingadmissionpolic",
    "virtualmachinecluster",
    "customresourcedefinitions.",
    "nodes",
    "priorityclasses.",
    "namespaces",
    "aaqs.",
    "storageclasses.",
    "persistentvolumes",
    "cdiconfigs.",
)


class Right(NamedTuple):
    """Verbs on PLURAL.GROUP[/SUBRESOURCE]. purpose: what for. without: what happens where it is missing; "" for a
    failure. wide: whether it has to hold beyond a namespace."""

    resource: str
    verbs: tuple[str, ...]
    purpose: str
    without: str
    wide: bool

    @property
    def group(self) -> str:
        return self.resource.partition("/")[0].partition(".")[2]

    @property
    def plural(self) -> str:
        """With its subresource."""
        kind, _slash, subresource = self.resource.partition("/")
        return kind.partition(".")[0] + (f"/{subresource}" if subresource else "")


def table(folder: Path = FOLDER) -> dict[str, list[Right]]:
    """The rights of each module, event source and role, by `modules/NAME`, `event_sources/NAME` and `roles/NAME`."""
    content = yaml.safe_load((folder / SOURCE).read_text(encoding="utf-8"))
    rights_of = {
        f"{kind}/{name}": [right for entry in entries for right in _rights(entry)]
        for kind in ("modules", "event_sources")
        for name, entries in content.get(kind, {}).items()
    }
    for name, parts in content["roles"].items():
        rights: list[Right] = []
        for part in parts:
            of_module = rights_of[f"modules/{part['module']}"]
            purposes = _purposes(part.get("for", [right.purpose for right in of_module]))
            left_out = part.get("but", [])
            unknown = {*purposes, *left_out} - {right.purpose for right in of_module}
            if unknown:
                raise SystemExit(f"{SOURCE}: roles.{name}: {part['module']} has no right for {', '.join(unknown)}")
            rights += [
                right._replace(purpose=purposes[right.purpose], without=part.get("without", right.without))
                for right in of_module
                if right.purpose in purposes and right.purpose not in left_out
            ]
        rights_of[f"roles/{name}"] = list(dict.fromkeys(rights))
    return rights_of


def _purposes(used: list[str] | dict[str, str]) -> dict[str, str]:
    """What a role uses of a module's rights: the module's words for it, and the role's own."""
    return used if isinstance(used, dict) else dict(zip(used, used))


def _rights(entry: dict[str, Any]) -> list[Right]:
    resources = entry["resource"] if isinstance(entry["resource"], list) else [entry["resource"]]
    verbs, purpose, without = tuple(entry["verbs"]), entry["for"], entry.get("without", "")
    everywhere = bool(entry.get("everywhere"))
    return [
        Right(resource, verbs, purpose, without, everywhere or resource.startswith(_CLUSTER_WIDE))
        for resource in resources
    ]


def files(folder: Path = FOLDER) -> dict[str, str]:
    """The texts of all files that follow from the table, by name."""
    rights = table(folder)
    texts = {f"{_slug(name)}.yml": manifest(name, lines) for name, lines in rights.items()}
    return {**texts, "README.md": _readme(rights)}


def _slug(name: str) -> str:
    kind, _slash, own = name.partition("/")
    prefixes = {"roles": "role-", "event_sources": "event-source-"}
    return prefixes.get(kind, "") + own.replace("_", "-")


def manifest(name: str, rights: list[Right]) -> str:
    """One ClusterRole for what is bound in namespaces, another for what has to be bound cluster-wide."""
    label = f"virtshape-{_slug(name)}"
    narrow, wide = ([right for right in rights if right.wide is which] for which in (False, True))
    noun = name.partition("s/")[0].replace("_", " ")
    lines = [
        f"# What the {noun} {name.partition('/')[2]} needs; a rule that may be left out says so.",
        f"# Written by tools/generate_rbac.py from {SOURCE}; do not edit.",
        "#",
    ]
    if narrow:
        lines += _binding(f"rolebinding {label}", f"{label} --namespace NAMESPACE")
    if wide:
        lines += _binding(f"clusterrolebinding {label}-cluster", f"{label}-cluster")
    named = [(label, narrow), (f"{label}-cluster", wide)]
    roles = [_cluster_role(role, own) for role, own in named if own]
    lines.append("---")
    if len(roles) == 1:
        return "\n".join([*lines, *roles[0]]) + "\n"
    lines += ["apiVersion: v1", "kind: List", "items:"]
    for first, *others in roles:
        lines += [f"  - {first}", *(f"    {line}" for line in others)]
    return "\n".join(lines) + "\n"


def _binding(what: str, role: str) -> list[str]:
    return [f"#   kubectl create {what} --user USER \\", f"#     --clusterrole {role}"]


def _cluster_role(name: str, rights: list[Right]) -> list[str]:
    lines = [
        "apiVersion: rbac.authorization.k8s.io/v1",
        "kind: ClusterRole",
        f"metadata: {{name: {name}}}",
        "rules:",
    ]
    for right in rights:
        lines.append(f"  # {right.purpose}")
        if right.without:
            lines.append(f"  # may be left out: {right.without}")
        lines.append(f'  - apiGroups: ["{right.group}"]')
        lines.append(f"    resources: [{right.plural}]")
        lines.append(f"    verbs: [{', '.join(right.verbs)}]")
    return lines


def _readme(rights: dict[str, list[Right]]) -> str:
    lines = [
        "# Least privilege",
        "",
        "The rights that each module and role needs, with a manifest for each, written by `tools/generate_rbac.py`",
        f"from [{SOURCE}]({SOURCE}) and tested with each module. [Security](../security.md#rbac) shows how to use",
        "the manifests.",
        "",
        "If the last column is empty, the module fails without the right; else the column has the effect.",
        "*cluster* is a right beyond a namespace: for a cluster-wide kind, or for all namespaces. Grant only the",
        "rights that you use: a play that never deletes needs no right for `state absent`. Check mode needs no",
        "right to write: with it, the server checks each object (`server_dry_run`); without it, the task warns.",
    ]
    for name, own in rights.items():
        kind, _slash, title = name.partition("s/")
        lines += [
            "",
            f"## {title}" + ("" if kind == "module" else f" ({kind.replace('_', ' ')})"),
            "",
            f"[{_slug(name)}.yml]({_slug(name)}.yml)",
            "",
        ]
        lines += ["| resource | verbs | where | for | without it |", "|---|---|---|---|---|"]
        for right in own:
            where = "cluster" if right.wide else "namespace"
            verbs = ", ".join(right.verbs)
            lines.append(f"| `{right.resource}` | {verbs} | {where} | {right.purpose} | {right.without} |")
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    texts = files()
    stale = [name for name, text in texts.items() if _read(name) != text]
    surplus = [path.name for path in FOLDER.iterdir() if path.name not in texts and path.name != SOURCE]
    if "--check" not in arguments:
        for name in stale:
            (FOLDER / name).write_text(texts[name], encoding="utf-8")
        for name in surplus:
            (FOLDER / name).unlink()
        return 0
    for name in stale + surplus:
        print(f"docs/rbac/{name}")
    return 1 if stale or surplus else 0


def _read(name: str) -> str | None:
    path = FOLDER / name
    return path.read_text(encoding="utf-8") if path.exists() else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
