"""`python -m node --config FILE`: runs until SIGTERM or SIGINT."""

from __future__ import annotations

import argparse
import asyncio
import logging
import signal
import sys

from node import application
from node.api.client import ApiError
from node.config import Config, ConfigError, load


def main() -> int:
    """Returns the exit status."""
    parser = argparse.ArgumentParser("node", description="Simulates the nodes of a cluster that has none.")
    parser.add_argument("--config", required=True, help="a JSON file; config.py says what it holds")
    try:
        config = load(parser.parse_args().config)
    except ConfigError as error:
        print(f"node: {error}", file=sys.stderr)
        return 2
    logging.basicConfig(level=config.log_level, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    try:
        asyncio.run(_run(config))
    except (ApiError, OSError) as error:
        print(f"node: {error}", file=sys.stderr)
        return 1
    return 0


async def _run(config: Config) -> None:
    end = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, end.set)
    await application.run(config, end)


if __name__ == "__main__":
    sys.exit(main())
