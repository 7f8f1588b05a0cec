"""`python -m fault_proxy --config FILE`: forwards requests to an API server, with faults, until SIGTERM or SIGINT."""

from __future__ import annotations

import argparse
import asyncio
import logging
import signal
import sys

from fault_proxy import proxy
from fault_proxy.proxy import Config, load_config


def main() -> int:
    """Runs the proxy and returns the exit status."""
    parser = argparse.ArgumentParser("fault_proxy", description="Passes requests to an API server on, with faults.")
    parser.add_argument("--config", required=True, help="a JSON file; Config in proxy.py says what it holds")
    path = parser.parse_args().config
    try:
        config = load_config(path)
    except (OSError, ValueError, TypeError) as error:
        print(f"fault_proxy: {path}: {error}", file=sys.stderr)
        return 2
    logging.basicConfig(level=config.log_level, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    try:
        asyncio.run(_run(config))
    except OSError as error:
        print(f"fault_proxy: {error}", file=sys.stderr)
        return 1
    return 0


async def _run(config: Config) -> None:
    end = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, end.set)
    await proxy.run(config, end)


if __name__ == "__main__":
    sys.exit(main())
