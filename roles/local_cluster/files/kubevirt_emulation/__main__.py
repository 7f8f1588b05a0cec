"""`python -m kubevirt_emulation --config FILE`: runs until SIGTERM or SIGINT."""

from __future__ import annotations

import argparse
import asyncio
import logging
import signal
import sys

from kubevirt_emulation import application
from kubevirt_emulation.client import ApiError
from kubevirt_emulation.config import Config, ConfigError, load


def main() -> int:
    """Returns the exit status."""
    parser = argparse.ArgumentParser("kubevirt_emulation", description="Does what KubeVirt does, on any API server.")
    parser.add_argument("--config", required=True, help="a JSON file; config.py says what it holds")
    try:
        config = load(parser.parse_args().config)
    except ConfigError as error:
        print(f"kubevirt_emulation: {error}", file=sys.stderr)
        return 2
    logging.basicConfig(level=config.log_level, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    try:
        asyncio.run(_run(config))
    except (ApiError, OSError) as error:
        print(f"kubevirt_emulation: {error}", file=sys.stderr)
        return 1
    return 0


async def _run(config: Config) -> None:
    end = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, end.set)
    await application.run(config, end)


if __name__ == "__main__":
    sys.exit(main())
