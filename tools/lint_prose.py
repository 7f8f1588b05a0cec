"""Warns of wording, lengths and names that are a matter of style: `make lint` runs it, and it never refuses a change.

python tools/lint_prose.py              all files
python tools/lint_prose.py PATH ...     these files
python tools/lint_prose.py --strict     exits 1 if there is a warning
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import yaml

ROOT = Path(__file__).resolve().parents[1]

Found = Iterator[tuple[int, str]]
"""(line, what is there)"""


class Rule(NamedTuple):
    """files: patterns, those after `!` for files that are left out. advice: what to write instead."""

    files: str
    find: Callable[[str], Found]
    advice: str


def docstrings(source: str) -> Found:
    """The docstrings of a module, its classes and functions."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0].lineno if node.body else 1
            yield first, " ".join((ast.get_docstring(node) or "").split())


def comments(source: str) -> Found:
    """The comments on lines of their own."""
    above = ""
    for number, line in enumerate(map(str.strip, source.splitlines()), 1):
        if line.startswith("# ") and not above.startswith("#"):
            yield number, line[2:]
        above = line


def descriptions(text: str) -> Found:
    """The texts of a YAML file."""
    due = [yaml.compose(text)]
    while due:
        node = due.pop()
        if isinstance(node, yaml.ScalarNode):
            yield node.start_mark.line + 1, node.value
        elif isinstance(node, yaml.SequenceNode):
            due += node.value
        elif isinstance(node, yaml.MappingNode):
            due += [value for _key, value in node.value]


def beginning(first: str, later: str, *readers: Callable[[str], Found]) -> Callable[[str], Found]:
    """Finds texts that begin with `first`, and sentences within texts that begin with `later`."""

    def find(text: str) -> Found:
        for line, words in (found for reader in readers for found in reader(text)):
            if re.match(first, words):
                yield line, words
            yield from ((line, match[0]) for match in re.finditer(rf"(?<=\. ){later}[^.]*", words))

    return find


def matching(pattern: str, *readers: Callable[[str], Found]) -> Callable[[str], Found]:
    """Finds a pattern in a file, or in the texts that readers find there."""

    def find(text: str) -> Found:
        if not readers:
            yield from (
                (text.count("\n", 0, match.start()) + 1, match[0])
                for match in re.finditer(pattern, text, flags=re.MULTILINE)
            )
        for line, words in (found for reader in readers for found in reader(text)):
            if re.search(pattern, words):
                yield line, words

    return find


def longer_than(most: int) -> Callable[[str], Found]:
    """Finds pages with more words of text and tables; blocks of code are not counted."""

    def find(text: str) -> Found:
        prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
        count = len([word for word in prose.split() if re.search(r"\w", word)])
        if count > most:
            yield 1, f"{count} words, {count - most} too many"

    return find


# With one of these first words, a text is a clause or a fragment, and needs the code beside it to make sense.
FRAGMENT = r"(What|Those|Whose|That of|Of|As|Like|Also|But|Beside|Because) "
CLAUSE = rf"{FRAGMENT}|(Whoever|Whatever|Who|How|Which|Where|When|Why|Until|By|From) "
# "As in KubeVirt, ..." is a sentence within a text.
LATER = r"(What|Those|Whose|Of|Also|Beside) "
SENTENCE = "write a whole sentence or a noun phrase"
FOR_USERS = (
    "docs/*.md README.md roles/*/README.md roles/*/meta/argument_specs.yml tools/descriptions/*.yml"
    " plugins/filter/*.yml plugins/modules/*.py plugins/doc_fragments/*.py plugins/inventory/*.py"
)
TASKS = "playbooks/**/*.yml roles/*/tasks/*.yml"

RULES = (
    Rule("plugins/**/*.py", beginning(FRAGMENT, LATER, comments, docstrings), SENTENCE),
    Rule("tests/**/*.py", beginning(FRAGMENT, LATER, comments), SENTENCE),
    Rule("tests/**/*.py", beginning(CLAUSE, LATER, docstrings), SENTENCE),
    Rule("tests/**/test_*.py", matching(r"(?<=def test_)[^\W_]+(_[^\W_]+){8,}"), "name a test in at most eight words"),
    Rule("tools/descriptions/*.yml", matching(r"[^.]\Z|\A(?!vCPUs)[^A-Z]", descriptions), "write whole sentences"),
    Rule(
        FOR_USERS,
        matching(r"\b(is|are|was|be) told\b|\b[Tt]hereby\b|\bshall\b|\bwhen it is not given\b"),
        "use words over which no reader stumbles",
    ),
    Rule("changelogs/fragments/*.y*ml", matching(r"\b[OCVMP]\("), "this is the markup of module documentation"),
    # Delete this row with the first release.
    Rule(
        "changelogs/fragments/*.y*ml",
        matching(r"^(?!release_summary|major_changes|minor_changes|known_issues|trivial)\w+:"),
        "nothing was released, so nothing was broken or mended: use minor_changes",
    ),
    Rule(
        "plugins/**/*.py roles/**/*.py tools/**/*.py !tools/lint_prose.py",
        matching(r"#.*\brules? [0-9]+\b"),
        "cite a function of KubeVirt, not the number of a rule",
    ),
    Rule("README.md", longer_than(600), "move details to a page of docs/"),
    # The first is generated, the others are references.
    Rule(
        "docs/*.md roles/*/README.md !docs/results.md !docs/surprises.md !docs/development.md",
        longer_than(900),
        "look for what two pages say",
    ),
    # The playbook estate writes for Git, so a second run and check mode tell whether it would change.
    Rule(
        f"{TASKS} !playbooks/estate.yml !playbooks/tasks/write_report.yml",
        matching(r"ansible\.builtin\.(copy|template):"),
        "write a report by playbooks/tasks/write_report.yml",
    ),
    Rule(
        "playbooks/**/*.json.j2 roles/**/*.json.j2",
        matching(r"\A(?!(\{#[^#]*#\}\n)?\n\s*(?!\{%-)\S).*"),
        "begin with an empty line: up to ansible-core 2.18 a lookup parses a text that begins with a bracket",
    ),
)


def matched(patterns: str) -> set[Path]:
    wanted = [pattern for pattern in patterns.split() if not pattern.startswith("!")]
    unwanted = {ROOT / pattern[1:] for pattern in patterns.split() if pattern.startswith("!")}
    return {path for pattern in wanted for path in ROOT.glob(pattern)} - unwanted


def warnings(rules: Iterable[Rule], only: Iterable[Path] = ()) -> Iterator[str]:
    chosen = {path.resolve() for path in only}
    for rule in rules:
        for path in sorted(matched(rule.files) & chosen if chosen else matched(rule.files)):
            for line, words in rule.find(path.read_text(encoding="utf-8")):
                what = words if len(words) < 80 else f"{words[:77]}..."
                yield f"{path.relative_to(ROOT)}:{line}: warning: {what!r}: {rule.advice}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", nargs="*", type=Path, help="files to look at; default: all")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if there is a warning")
    options = parser.parse_args(arguments)
    found = list(warnings(RULES, options.path))
    print("\n".join(found), end="\n" if found else "")
    return 1 if found and options.strict else 0


if __name__ == "__main__":
    sys.exit(main())
