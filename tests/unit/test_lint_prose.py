"""tools/lint_prose.py warns of a text that breaks a rule, and refuses nothing."""

from pathlib import Path
from types import ModuleType

import pytest
from loaded_files import load

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.fixture
def lint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = load(CHECKOUT / "tools" / "lint_prose.py")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    return module


BREAKING = [
    ("plugins/a.py", '"""Sizes. Of a disk: its size."""\n', "1: warning: 'Of a disk: its size'"),
    ("plugins/a.py", '"""Sizes."""\n\n\ndef a():\n    """What it is."""\n', "5: warning: 'What it is.'"),
    ("plugins/a.py", "# Of disks.\n\n# A disk.\n# Of this line, nothing is said.\n", "1: warning: 'Of disks.'"),
    ("plugins/a.py", "a = 1  # rule 12 says so\n", "1: warning: '# rule 12'"),
    ("tests/a.py", '"""How it is."""\n', "1: warning: 'How it is.'"),
    ("tests/test_a.py", "\ndef test" + "_a_b_c_d_e_f_g_h_i(): ...\n", "2: warning: 'a_b_c_d_e_f_g_h_i'"),
    ("tools/descriptions/a.yml", "vm:\n  name:\n  - The name.\n  - of it\n", "4: warning: 'of it'"),
    ("docs/a.md", "A name\nis told\n", "2: warning: 'is told'"),
    ("changelogs/fragments/a.yml", "minor_changes:\n- O(name)\n", "2: warning: 'O('"),
    ("changelogs/fragments/a.yml", "bugfixes:\n- x\n", "1: warning: 'bugfixes:'"),
    ("README.md", "word " * 601, "1: warning: '601 words, 1 too many'"),
    ("playbooks/a.yml", "- ansible.builtin.copy:\n", "1: warning: 'ansible.builtin.copy:'"),
    ("playbooks/a.json.j2", "{# why #}\n[]\n", "1: warning: '{# why #}'"),
    ("playbooks/a.json.j2", "\n{%- if a %}\n", "1: warning: ''"),
]


@pytest.mark.parametrize(("name", "text", "words"), BREAKING)
def test_broken_rules_are_named_with_their_line(
    lint: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, words: str
) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    assert lint.main([]) == 0
    assert capsys.readouterr().out.startswith(f"{name}:{words}: ")
    assert lint.main(["--strict", str(path)]) == 1
    assert lint.main(["--strict", str(tmp_path / "other.py")]) == 0


def test_kept_rules_say_nothing(lint: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = {
        "plugins/a.py": '"""Sizes. As in KubeVirt, they are numbers."""\n\n# A disk.\n# Of this line, nothing.\n',
        "tests/test_a.py": "def test_a_b_c_d_e_f_g_h(): ...\n",
        "tools/descriptions/a.yml": "vm:\n  cpu: vCPUs of the VM.\n",
        "docs/a.md": "```\n" + "word " * 999 + "\n```\n",
        "changelogs/fragments/a.yml": "---\nminor_changes:\n- a change\n",
        "playbooks/a.json.j2": "{# why #}\n\n[]\n",
    }
    for name, text in kept.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert lint.main(["--strict"]) == 0
    assert capsys.readouterr().out == ""
