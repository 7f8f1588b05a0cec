"""The words of code, documentation and changelog: names that exist, whole sentences, nothing that stumbles a reader."""

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

TESTS = Path(__file__).parents[2]
PLUGINS = TESTS.parent / "plugins"
FILES = sorted(PLUGINS.rglob("*.py"))
# `name`, `module.name` or `Class.name` after "see", and what "Raises" names with its module.
REFERENCE = re.compile(r"\b[Ss]ee `([\w.]+)`|Raises (\w+\.\w+)")


def defined(tree: ast.AST) -> Iterator[str]:
    """The names that a module defines: functions, classes, variables, parameters, and the keys of dictionaries."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_references_of_docstrings_exist() -> None:
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in FILES}
    names = {path: set(defined(tree)) for path, tree in trees.items()}
    everything = set().union(*names.values())
    owners: dict[str, set[str]] = {}
    for path, own in names.items():
        owners.setdefault(path.stem, set()).update(own)
        for node in ast.walk(trees[path]):
            if isinstance(node, ast.ClassDef):
                owners.setdefault(node.name, set()).update(defined(node))
    modules = {part for path in FILES for part in (path.stem, path.parent.name)}
    stale = []
    for path in FILES:
        for match in REFERENCE.finditer(" ".join(path.read_text(encoding="utf-8").split())):
            owner, _dot, name = (match[1] or match[2]).rpartition(".")
            known = owners.get(owner.rpartition(".")[2], set()) if owner else everything
            if name not in known | modules:
                stale.append(f"{path.relative_to(PLUGINS)}: {match[0]}")
    assert stale == []


# A text with one of these first words is a clause or a fragment, and needs the code beside it to make sense.
FRAGMENT = re.compile(r"(What|Those|Whose|That of|Of|As|Like|Also|But|Beside|Because) ")
# Docstrings of tests do not begin with further clauses either, such as "How often ...".
CLAUSE = re.compile(rf"{FRAGMENT.pattern}|(Whoever|Whatever|Who|How|Which|Where|When|Why|Until|By|From) ")
# The same within a text, but for "As in KubeVirt, ...".
LATER_FRAGMENT = re.compile(r"(?<=\. )(What|Those|Whose|Of|Also|Beside) [^.]*")


def docstrings(source: str) -> Iterator[str]:
    """The docstrings of a module, its classes and functions."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            yield ast.get_docstring(node) or ""


def comments(source: str) -> Iterator[str]:
    """The comments on lines of their own."""
    above = ""
    for line in map(str.strip, source.splitlines()):
        if line.startswith("# ") and not above.startswith("#"):
            yield line[2:]
        above = line


def fragments(texts: Iterable[str], first: re.Pattern[str] = FRAGMENT) -> list[str]:
    lines = [" ".join(text.split()) for text in texts]
    return [line for line in lines if first.match(line)] + [
        match[0] for line in lines for match in LATER_FRAGMENT.finditer(line)
    ]


def test_fragments_are_found() -> None:
    source = '"""How it is. Of a disk: its size."""\n# Of disks.\n\n# A disk.\n# Of this line, nothing is said.\n'
    assert fragments(comments(source)) == ["Of disks."]
    assert fragments(docstrings(source)) == ["Of a disk: its size"]
    assert fragments(docstrings(source), CLAUSE) == ["How it is. Of a disk: its size.", "Of a disk: its size"]


def test_texts_are_whole_sentences() -> None:
    found = {}
    for folder, first in ((PLUGINS, FRAGMENT), (TESTS, CLAUSE)):
        files = list(folder.rglob("*.py"))
        assert len(files) > 400
        for path in files:
            source = path.read_text(encoding="utf-8")
            if own := [*fragments(comments(source)), *fragments(docstrings(source), first)]:
                found[str(path)] = own
    assert found == {}


# Files, and what none of them says.
UNWANTED = (
    # A reader stumbles over these words.
    (
        "docs/*.md README.md roles/*/README.md roles/*/meta/argument_specs.yml tools/descriptions/*.yml"
        " plugins/filter/*.yml plugins/modules/*.py plugins/doc_fragments/*.py plugins/inventory/*.py",
        r"\b(is|are|was|be) told\b|\b[Tt]hereby\b|\bshall\b|\bwhen it is not given\b",
    ),
    # The markup of module documentation.
    ("changelogs/fragments/*.y*ml", r"\b[OCVMP]\("),
    # Comments cite functions of KubeVirt, not the numbers of rules.
    ("plugins/**/*.py roles/**/*.py tools/**/*.py", r"#.*\brules? [0-9]+\b"),
)


def test_no_text_has_unwanted_words() -> None:
    found = []
    for patterns, unwanted in UNWANTED:
        for path in (path for pattern in patterns.split() for path in PLUGINS.parent.glob(pattern)):
            found += [f"{path.name}: {match[0]}" for match in re.finditer(unwanted, path.read_text(encoding="utf-8"))]
    assert found == []
