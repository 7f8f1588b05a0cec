"""The floor: the requests that the phase needs at least, over 16 connections, and nothing else.

``floor.py KUBECONFIG NAMESPACE PHASE COUNT``
"""

import asyncio
import base64
import ssl
import sys
from pathlib import Path

import aiohttp
import yaml
from contestants import manifest, names

CONNECTIONS = 16
APPLY = {"Content-Type": "application/apply-patch+yaml"}


async def main(kubeconfig: Path, namespace: str, phase: str, count: int) -> None:
    content = yaml.safe_load(kubeconfig.read_text())
    cluster, user = content["clusters"][0]["cluster"], content["users"][0]["user"]
    ca = base64.b64decode(cluster["certificate-authority-data"]).decode()
    tls = ssl.create_default_context(cadata=ca)
    folder = f"/apis/kubevirt.io/v1/namespaces/{namespace}/virtualmachines"
    async with aiohttp.ClientSession(
        cluster["server"],
        connector=aiohttp.TCPConnector(ssl=tls, limit=CONNECTIONS),
        headers={"Authorization": f"Bearer {user['token']}"},
    ) as session:

        async def send(method: str, path: str, **more: object) -> None:
            async with session.request(method, path, **more) as response:  # type: ignore[arg-type]
                text = await response.read()
                # Somebody who was stopped may have deleted it.
                if response.status >= 300 and (method, response.status) != ("DELETE", 404):
                    raise SystemExit(f"{method} {path}: {response.status} {text.decode()[:300]}")

        async def worker(left: list[str]) -> None:
            while left:
                name = left.pop()
                if phase == "delete":
                    await send("DELETE", f"{folder}/{name}")
                else:
                    body = manifest(name, namespace, phase)
                    await send("PATCH", f"{folder}/{name}?fieldManager=virtshape&force=true", json=body, headers=APPLY)

        if phase == "again":
            await send("GET", folder)
        else:
            left = names(count)
            await asyncio.gather(*(worker(left) for _unused in range(CONNECTIONS)))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])))
