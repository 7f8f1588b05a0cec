"""The filter that reads the catalog files of a playbook."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ansible.errors import AnsibleFilterError

from ...module_utils._catalog_conversions import CONVERSIONS
from ...module_utils._resolver.catalog.bundle import bundle
from ...module_utils._resolver.catalog.errors import CatalogError
from ...module_utils._yaml.documents import TextError, documents


def catalog_files(value: Iterable[str], texts: Iterable[str], version: str = "") -> list[Any]:
    """See its documentation."""
    files = [str(file) for file in value]
    try:
        # In ansible-core 2.16, str() keeps the mark of unsafe text, which the C parser refuses.
        plain = [str.__str__(text) for text in texts]
        found = [(document, file) for file, text in zip(files, plain) for document in documents(text, file)]
        if files and not found:
            raise AnsibleFilterError(f"{files[0]} contains only empty documents; name a catalog or manifests")
        contents = [document.content for document, _file in found]
        # Later steps do not know the files.
        if contents:
            places = [document.place_in(file) for document, file in found]
            bundle(contents, version=str(version), places=places, conversions=CONVERSIONS)
    except (TextError, CatalogError) as error:
        raise AnsibleFilterError(str(error)) from None
    return contents
