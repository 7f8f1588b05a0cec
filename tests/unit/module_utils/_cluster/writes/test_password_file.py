"""The password file of cloud-init."""

from pathlib import Path
from typing import Any

import pytest

from plugins.module_utils._cluster.modules.virtual_machine import read_password_file
from plugins.module_utils._resolver.api.errors import FieldError


def options(path: str, **more: Any) -> dict[str, Any]:
    return {"name": "a", "cloud_init": {"user": "me", "password_file": path, **more}}


def test_white_space_around_the_password_is_ignored(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("\u2003 my pass word\u00a0\r\n\n", encoding="utf-8")
    provided = options(str(file))
    assert read_password_file(provided)["cloud_init"]["password"] == "my pass word"
    assert "password" not in provided["cloud_init"]


@pytest.mark.parametrize(
    "provided",
    [{}, {"cloud_init": None}, options(""), options("/x", type="none"), {**options("/x"), "state": "absent"}],
)
def test_no_file_is_read_without_need(provided: dict[str, Any]) -> None:
    assert read_password_file(provided) is provided


def test_an_unreadable_file_is_reported_without_its_content(tmp_path: Path) -> None:
    file = tmp_path / "password"
    with pytest.raises(FieldError, match=r"cloud_init\.password_file: cannot be read: No such file"):
        read_password_file(options(str(file)))
    file.write_bytes(b"secret\xff")
    with pytest.raises(FieldError, match="it is not UTF-8 text") as error:
        read_password_file(options(str(file)))
    assert "secret" not in repr(error.getrepr(style="native"))
