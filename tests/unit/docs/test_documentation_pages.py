"""The pages of docs/ agree with the code: links, messages, names of options; and how the site is put together."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
import yaml
from loaded_files import load

CHECKOUT = Path(__file__).resolve().parents[3]
DOCS = CHECKOUT / "docs"


@pytest.fixture(scope="module")
def build_docs() -> ModuleType:
    return load(CHECKOUT / "tools" / "build_docs.py")


def code_spans(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def rows(page: str) -> Iterator[list[str]]:
    for line in (DOCS / page).read_text(encoding="utf-8").splitlines():
        if line.startswith("|") and not line.startswith("|---"):
            yield [cell.strip() for cell in line.strip("|").split(" | ")]


def test_no_link_between_pages_is_broken(build_docs: ModuleType) -> None:
    known = build_docs.pages()
    for page in [*known, CHECKOUT / "README.md", CHECKOUT / "CONTRIBUTING.md"]:
        build_docs.relinked(page, known)


def test_links_to_headings_lead_to_headings(build_docs: ModuleType) -> None:
    missing = []
    for page in [*build_docs.pages(), CHECKOUT / "README.md"]:
        for _before, target, anchor in build_docs.LINK.findall(page.read_text(encoding="utf-8")):
            if target.endswith(".md") and anchor and anchor[1:] not in anchors((page.parent / target).resolve()):
                missing.append(f"{page.name}: {target}{anchor}")
    assert missing == []


def anchors(page: Path) -> set[str]:
    """The names of a page's headings, as GitHub and the site make them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_page_of_all_pages_links_to_each() -> None:
    linked = set(re.findall(r"\]\(([a-z_]+\.md)\)", (DOCS / "all_pages.md").read_text(encoding="utf-8")))
    assert linked == {path.name for path in DOCS.glob("*.md")} - {"index.md", "all_pages.md"}


def test_pictures_are_described_and_used() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in DOCS.glob("*.md"))
    for picture in (DOCS / "images").glob("*.svg"):
        svg = picture.read_text(encoding="utf-8")
        assert f"](images/{picture.name})" in text
        assert "<title" in svg and "<desc" in svg
        # Readable on any page: a background of its own, and colours for a dark one.
        assert "prefers-color-scheme: dark" in svg and "fill:var(--page)" in svg


def test_links_are_converted_for_the_site(build_docs: ModuleType, tmp_path: Path) -> None:
    for file in (
        "docs/a.md",
        "docs/b.md",
        "roles/r/README.md",
        "plugins/modules/m.py",
        "plugins/filter/f.yml",
        "docs/images/p.svg",
        "other.txt",
    ):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("")
    page = tmp_path / "docs" / "a.md"
    page.write_text(
        "[b](b.md#x) [r](../roles/r/README.md) [m](../plugins/modules/m.py) [f](../plugins/filter/f.yml) "
        "![p](images/p.svg) [o](../other.txt) [all](../plugins) [web](https://example.com) [here](#there)"
    )
    text = build_docs.relinked(page, build_docs.pages(tmp_path), tmp_path)
    repository = build_docs.GALAXY["repository"]
    assert text == (
        "[b](b.md#x) [r](role_r.md) [m](reference/m_module.rst) [f](reference/f_filter.rst) ![p](images/p.svg) "
        f"[o]({repository}/blob/main/other.txt) [all](reference/index.rst) [web](https://example.com) [here](#there)"
    )


def test_a_broken_link_is_named(build_docs: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    page = tmp_path / "docs" / "a.md"
    page.write_text("[gone](gone.md)")
    with pytest.raises(build_docs.BrokenLink, match=r"docs/a\.md: there is no gone\.md"):
        build_docs.relinked(page, build_docs.pages(tmp_path), tmp_path)


def test_lists_of_pages_become_tables_of_contents(build_docs: ModuleType) -> None:
    text = build_docs.contents(
        "# T\n\n## One\n\n- [A](a.md): about\n- [W](https://example.com/x.md)\n\n## Two\n\ntext\n"
    )
    assert text.count("{toctree}") == 2
    assert ":hidden:\n\nAll pages <all_pages>\n```" in text
    assert ":hidden:\n:caption: One\n\nA <a>\n```" in text


def test_reference_pages_have_no_local_contents(build_docs: ModuleType) -> None:
    assert (
        build_docs.without_contents("T\n=\n\n.. contents::\n   :local:\n   :depth: 1\n\nS\n-\n") == "T\n=\n\n\nS\n-\n"
    )


def test_output_stands_between_examples_and_return_values(build_docs: ModuleType) -> None:
    page = "Examples\n--------\n\n\n.. Facts\n\n\nReturn Values\n-------------\n"
    text = build_docs.with_output(page, "TASK [a]\n\nok\n")
    assert text == (
        "Examples\n--------\n\n\nOutput\n------\n\n.. code-block:: text\n\n    TASK [a]\n\n    ok\n\n"
        "\n.. Facts\n\n\nReturn Values\n-------------\n"
    )


def test_internal_plugins_are_not_listed(build_docs: ModuleType) -> None:
    shown = "* :ansplugin:`drift filter <a.b.drift#filter>` -- Drift\n"
    hidden = "* :ansplugin:`_page filter <a.b._page#filter>` -- P\n"
    hidden += "* :ansplugin:`r module <a.b.r#module>` -- Internal \\- r\n"
    assert build_docs.without_internal(shown + hidden) == (shown, ["_page_filter.rst", "r_module.rst"])


def test_troubleshooting_page_quotes_messages_of_the_code() -> None:
    sources = [*CHECKOUT.glob("plugins/**/*.py"), *CHECKOUT.glob("roles/local_cluster/files/**/*.py")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    # Python prints these otherwise: literals that are written on several lines, and braces.
    text = re.sub(r'"\s*\n\s*f?"', "", text)
    missing = []
    for message, *_why in rows("troubleshooting.md"):
        # A text that is put together from parts is known by its parts.
        for part in re.split(r"…|[:;] ", "…".join(code_spans(message))):
            part = part.strip(" :;,.?")
            if len(part) > 4 and part not in text:
                missing.append(part)
    assert missing == []


def test_migration_page_lists_every_flag_of_virtctl() -> None:
    sys.path.insert(0, str(CHECKOUT / "tests" / "virtctl"))
    try:
        command_line = load(CHECKOUT / "tests" / "virtctl" / "command_line.py")
    finally:
        sys.path.pop(0)
    documented: dict[str, set[str]] = {}
    kind = ""
    for first, *_rest in rows("migrating.md"):
        if first.startswith("virtctl create "):
            kind = first.removeprefix("virtctl create ")
        documented.setdefault(kind, set()).update(re.findall(r"--([a-z-]+)", first))
    for kind, known in command_line._KNOWN.items():
        assert set(known) <= documented[kind], kind


@pytest.mark.parametrize("page", ["migrating.md", "from_kubevirt_core.md"])
def test_migration_page_names_only_existing_options(page: str) -> None:
    names = {"module_defaults", "soft_rebooted", "kubevirt_vm", "keyed_groups", "vm_labels"}
    for path in (*CHECKOUT.glob("plugins/*/*.py"), *CHECKOUT.glob("plugins/filter/*.yml")):
        options = re.findall(r"^ +([a-z_0-9]+):", path.read_text(encoding="utf-8"), re.MULTILINE)
        names |= {path.stem, *options}
    for _first, *rest in rows(page):
        for span in code_spans(rest[0] if len(rest) == 1 else ""):
            unknown = set(re.findall(r"[a-z]+(?:_[a-z0-9]+)+", span)) - names
            assert not unknown, span


def test_compatibility_page_names_the_tested_versions() -> None:
    page = (DOCS / "compatibility.md").read_text(encoding="utf-8")
    locked = (CHECKOUT / "requirements" / "dev.txt").read_text(encoding="utf-8")
    core = re.search(r"^ansible-core==(\d+\.\d+)", locked, re.MULTILINE)
    assert core is not None and core[1] in page
    go_mod = (CHECKOUT / "roles/local_cluster/files/control_plane/go.mod").read_text(encoding="utf-8")
    kubernetes = re.search(r"k8s\.io/kubernetes v([\d.]+)", go_mod)
    assert kubernetes is not None and kubernetes[1] in page
    runtime = yaml.safe_load((CHECKOUT / "meta" / "runtime.yml").read_text(encoding="utf-8"))
    assert runtime["requires_ansible"].removeprefix(">=").rpartition(".")[0] in page


def test_readme_has_the_sections_of_the_certification() -> None:
    """The order is that of its template; the `ansible` package asks for how to communicate."""
    text = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.*)", text, re.MULTILINE) == [
        "Description",
        "Requirements",
        "Installation",
        "Use Cases",
        "Testing",
        "Support",
        "Release Notes",
        "Related Information",
        "License",
    ]
    communication = text.split("### Communication")[1].split("\n## ")[0]
    assert "forum.ansible.com/tag/" in communication and "code_of_conduct" in communication


def test_readme_names_the_command_of_ci() -> None:
    command = re.search(r"^exec (.+)$", (CHECKOUT / ".ci" / "run").read_text(encoding="utf-8"), re.MULTILINE)
    assert command is not None
    assert f"$ {command[1]} " in (CHECKOUT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "pattern", ["plugins/modules/*.py", "plugins/filter/*.yml", "playbooks/*.yml", "roles/*/README.md"]
)
def test_all_that_users_call_is_named(pattern: str) -> None:
    """It leaves out private names, and the module that only a role uses."""
    paths = list(CHECKOUT.glob(pattern))
    names = {path.parent.name if path.name == "README.md" else path.stem for path in paths} - {"revision_rollout"}
    named = set(re.findall(r"`(\w+)`", (DOCS / "all_pages.md").read_text(encoding="utf-8")))
    assert names and {name for name in names - named if not name.startswith("_")} == set()


def test_every_module_page_shows_what_a_task_prints() -> None:
    """Only the module that a role alone uses has no such page."""
    modules = {path.stem for path in (CHECKOUT / "plugins" / "modules").glob("*.py")} - {"revision_rollout"}
    printed = {path.stem: path.read_text(encoding="utf-8") for path in (DOCS / "outputs").glob("*.txt")}
    assert set(printed) == modules
    for module, text in printed.items():
        assert text.startswith("TASK [") and "TASK [Its result]" in text, module
        assert not re.search(r"/(root|home|tmp|work)/", text), module
