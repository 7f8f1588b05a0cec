"""Files that tasks name are found where Ansible looks."""

from pathlib import Path

import pytest

from plugins.module_utils._task_files import found


@pytest.mark.parametrize(
    ("playbook", "path", "file"),
    [
        ("play.yml", "vm.j2", "templates/vm.j2"),
        ("play.yml", "templates/vm.j2", "templates/vm.j2"),
        ("play.yml", "{{ playbook_dir }}/other/vm.j2", "other/vm.j2"),
        ("roles/web/tasks/main.yml", "vm.j2", "roles/web/templates/vm.j2"),
        ("roles/web/tasks/main.yml", "{{role_path}}/templates/vm.j2", "roles/web/templates/vm.j2"),
        ("roles/web/tasks/main.yml", "own.j2", "roles/web/tasks/own.j2"),
        ("play.yml", "none.j2", None),
        ("play.yml", "{{ item }}.j2", None),
        ("play.yml", "{{ playbook_dir }}/none.j2", None),
        ("play.yml", "templates", None),
    ],
)
def test_files_are_where_ansible_looks(tmp_path: Path, playbook: str, path: str, file: str | None) -> None:
    for name in ("templates/vm.j2", "other/vm.j2", "roles/web/templates/vm.j2", "roles/web/tasks/own.j2"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    assert found(tmp_path / playbook, "templates", path) == (tmp_path / file if file else None)


def test_absolute_paths(tmp_path: Path) -> None:
    file = tmp_path / "vm.yml"
    file.write_text("")
    assert found(Path("elsewhere/play.yml"), "files", str(file)) == file
