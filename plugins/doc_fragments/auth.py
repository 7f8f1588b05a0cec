# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How to reach the cluster, and as whom; `_cluster/modules/shared_options.py` has the same options."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  kubeconfig:
    description:
      - The kubeconfig, as a path, several paths as in E(KUBECONFIG), or a dictionary with the file's content.
      - On the controller, a relative path is also found like the files of a play, and a file that Ansible Vault has
        encrypted is decrypted.
      - Prefer a path. Ansible logs the content of a dictionary with the task's other arguments.
      - Without it E(K8S_AUTH_KUBECONFIG) is used, then E(KUBECONFIG), then C(~/.kube/config), and inside a pod the
        pod's service account. The other connection options override the kubeconfig.
    type: raw
  context:
    description: The context of the kubeconfig. Default is its current context. Without it E(K8S_AUTH_CONTEXT) is used.
    type: str
  host:
    description: URL of the API server. Without it E(K8S_AUTH_HOST) is used.
    type: str
  api_key:
    description: Bearer token. Without it E(K8S_AUTH_API_KEY) is used.
    type: str
  username:
    description: User name for basic authentication at a proxy in front of the API server. The API server itself does
      not support it. Without it E(K8S_AUTH_USERNAME) is used.
    type: str
  password:
    description: Password of O(username). Without it E(K8S_AUTH_PASSWORD) is used.
    type: str
  validate_certs:
    description: Whether to verify the certificate of the API server. The default is V(true). Without it
      E(K8S_AUTH_VERIFY_SSL) is used.
    type: bool
    aliases: [verify_ssl]
  ca_cert:
    description: Path of the file with the CA certificates that sign the certificate of the API server. Without it
      E(K8S_AUTH_SSL_CA_CERT) is used.
    type: path
    aliases: [ssl_ca_cert]
  client_cert:
    description: Path of the client's certificate. Without it E(K8S_AUTH_CERT_FILE) is used.
    type: path
    aliases: [cert_file]
  client_key:
    description: Path of the private key of O(client_cert). Without it E(K8S_AUTH_KEY_FILE) is used.
    type: path
    aliases: [key_file]
  proxy:
    description: URL of the HTTP proxy for connections to the API server. Without it E(K8S_AUTH_PROXY) is used.
    type: str
  no_proxy:
    description: Hosts, domains and networks to connect to without O(proxy), separated by commas. Without it
      E(K8S_AUTH_NO_PROXY) is used.
    type: str
  proxy_headers:
    description: Headers for the proxy.
    type: dict
    suboptions:
      basic_auth:
        description: User name and password of the API server, joined by a colon. Without it
          E(K8S_AUTH_PROXY_HEADERS_BASIC_AUTH) is used.
        type: str
      proxy_basic_auth:
        description: User name and password of the proxy, joined by a colon. Without it
          E(K8S_AUTH_PROXY_HEADERS_PROXY_BASIC_AUTH) is used.
        type: str
      user_agent:
        description: User agent to send to the proxy. Without it E(K8S_AUTH_PROXY_HEADERS_USER_AGENT) is used.
        type: str
  impersonate_user:
    description: User to act as. The authenticated user needs the right to impersonate this user. Without it
      E(K8S_AUTH_IMPERSONATE_USER) is used.
    type: str
  impersonate_groups:
    description: Groups to act as a member of. Without it E(K8S_AUTH_IMPERSONATE_GROUPS) is used, a list separated by
      commas.
    type: list
    elements: str
  retry_timeout:
    description:
      - Seconds during which the task retries a request that failed because the server was busy or unreachable.
      - The pauses between retries grow from 0.1 to 5 seconds. The task respects the C(Retry-After) of the server.
    type: int
    default: 60
  qps:
    description:
      - Maximum number of requests per second, including retries, such as C(20) or C(0.5). After a pause the task may
        send that many requests concurrently.
      - By default the task does not limit itself, and the server throttles the task.
    type: float
notes:
  - Each connection option can also be a variable of the host, with the prefix C(virtshape_), such as
    C(virtshape_kubeconfig) or C(virtshape_api_key), and so can C(retry_timeout). A task that sets O(kubeconfig),
    O(context) or O(host) ignores these variables.
requirements:
  - python >= 3.9
  - urllib3 >= 1.26.5
  - PyYAML
  - kubernetes >= 24.2.0, != 36.0.0 (the Python client), only for a kubeconfig with an C(auth-provider)
"""
