"""Images of guests that tests boot: made when first asked for, and kept for later runs."""

import functools
from pathlib import Path

import pytest
from loaded_files import load

MAKE_GUEST = load(Path(__file__).resolve().parent.parent / "tools" / "make_guest.py")


@functools.cache
def _made(kind: str) -> Path | str:
    if lacking := MAKE_GUEST.missing(MAKE_GUEST.RUNNERS):
        return f"guests need {' '.join(lacking)}"
    try:
        image: Path = MAKE_GUEST.image(kind)
    except (MAKE_GUEST.packages.Failed, OSError) as error:
        return f"no image of a guest: {error}"
    return image


def guest_image(kind: str = "minimal") -> Path:
    """The image of a kind of guest. Without one, the test is skipped, with what is missing."""
    made = _made(kind)
    if isinstance(made, str):
        pytest.skip(made)
    return made
