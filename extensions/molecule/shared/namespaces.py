"""Makes namespaces, or deletes them with all that is in them; the collection leaves namespaces to others.

    namespaces.py present|absent NAME...

The cluster is the one of K8S_AUTH_KUBECONFIG. What is so already is left as it is.
"""

from __future__ import annotations

import os
import sys

from kubernetes import client, config


def main(state: str, *names: str) -> None:
    api = client.CoreV1Api(config.new_client_from_config(os.environ["K8S_AUTH_KUBECONFIG"]))
    for name in names:
        try:
            if state == "present":
                api.create_namespace({"metadata": {"name": name}})
            else:
                api.delete_namespace(name)
        except client.ApiException as error:
            if error.status != (409 if state == "present" else 404):
                raise


if __name__ == "__main__":
    main(*sys.argv[1:])
