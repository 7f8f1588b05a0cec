"""The filter that reads the catalog files of playbooks, and what it says of those that are no catalog."""

import pytest
from ansible.errors import AnsibleFilterError
from loaded_filters import FILTERS

read = FILTERS["_catalog_files"]
SERIES = "series: {web: {sizes: {small: {cpu: 1, memory: 1Gi}}}}\n"


def test_documents_are_read_without_empty_ones() -> None:
    assert read(["a.yml", "b.yml"], [f"---\n---\n{SERIES}---\nnull\n", "# nothing\n"]) == [
        {"series": {"web": {"sizes": {"small": {"cpu": 1, "memory": "1Gi"}}}}}
    ]
    assert read([], []) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("series: [1", "b.yml, line 2, column 1: "),
        ("---\n---\nseries: {web: {colour: red}}", "b.yml, line 3: series.web: unknown key 'colour'"),
        ("---\n# nothing", "b.yml contains only empty documents; name a catalog or manifests"),
    ],
)
def test_errors_name_file_and_line(text: str, message: str) -> None:
    with pytest.raises(AnsibleFilterError) as error:
        read(["b.yml"], [f"{text}\n"])
    assert str(error.value).startswith(f"_catalog_files: {message}")
