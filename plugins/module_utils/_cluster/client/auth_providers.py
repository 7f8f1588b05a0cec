"""Auth providers of kubeconfigs (gcp, oidc), the forerunners of exec plugins: the official client runs them.

Only such a kubeconfig needs the client, whose import takes longer than all other imports of a module.
"""

from __future__ import annotations

import os
from typing import Any, Final

from .kubeconfig import Access

_NEEDS_CLIENT: Final = (
    "needs the Python package kubernetes; install it, or use exec or a token instead of this old kind of login"
)


class AuthProviderLogin:
    """The credentials of a user with an auth provider, whose tokens the client renews in the kubeconfig."""

    def __init__(self, access: Access) -> None:
        """Raises ConnectionFailed if the client is missing, or cannot log in."""
        try:
            from kubernetes.config import kube_config
        except ImportError:
            raise access.user.error("auth-provider", _NEEDS_CLIENT) from None
        self._client: Any = kube_config
        # The client raises many types of errors: missing keys, wrong types, answers of servers.
        try:
            self._loader = self._loaded(access)
        except Exception as error:
            reason = access.hidden(str(error) or type(error).__name__)
            raise access.user.error("auth-provider", reason) from error

    def _loaded(self, access: Access) -> Any:
        client, persister = self._client, None
        content: Any = access.contents[0]
        if access.paths:
            merger = client.KubeConfigMerger(os.pathsep.join(access.paths))
            content, persister = merger.config, merger.save_changes
        loader = client.KubeConfigLoader(
            config_dict=content, active_context=access.context, config_base_path=None, config_persister=persister
        )
        loader._load_authentication()
        return loader

    def authorization(self) -> str:
        """The header's value; "" if the provider gave none."""
        expiry = getattr(self._loader, "expiry", None)
        if expiry is not None and self._client._is_expired(expiry):
            self._loader._load_authentication()
        return str(getattr(self._loader, "token", ""))
