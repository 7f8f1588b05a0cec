"""`make quick` runs what the changed files call for."""

from pathlib import Path

from loaded_files import load

QUICK = load(Path(__file__).resolve().parents[2] / "tools" / "quick.py")
RESOLVER = "tests/unit/module_utils/_resolver"


def program(command: list[str]) -> str:
    return command[command[0] == "python"]


def test_pure_tests_run_without_a_change() -> None:
    (command,) = QUICK.commands([])
    assert command[0] == "pytest" and command[-1] == RESOLVER


def test_changed_files_choose_commands_and_tests() -> None:
    files = [
        "docs/index.md",
        "plugins/doc_fragments/auth.py",
        "plugins/module_utils/_estate/use.py",
        "tests/integration/conftest.py",
        "tests/unit/module_utils/_estate/test_estate_sizes.py",
        "tests/unit/test_quick.py",
    ]
    *_style, types, tests = QUICK.commands(files)
    programs = [Path(program(command)).stem for command in QUICK.commands(files)]
    assert programs == ["ruff", "ruff", "lint_prose", "generate_fields", "generate_docs", "mypy", "pytest"]
    assert types == ["mypy", "plugins/module_utils/_estate/use.py"]
    assert tests[-3:] == ["tests/unit/module_utils/_estate", RESOLVER, "tests/unit/test_quick.py"]
