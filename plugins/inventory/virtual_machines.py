# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: virtual_machines
short_description: Use VMs of KubeVirt as hosts
version_added: 1.0.0
author: virtshape.instancetypes contributors (@virtshape)
description:
  - Makes a host of each VM. Its variables are the instancetype and preference with captured revisions and drift, the
    resources of guest and pod, state and conditions, labels and annotations.
  - Sends one list request per kind for all namespaces or, if the user may not list all namespaces, one per namespace
    with VMs.
  - Only the right to list VMs is required. If the user may not list another kind, such as instancetypes, the plugin
    warns with the missing right, and the affected state is V(unknown).
  - The source is a YAML file whose name ends in C(virtual_machines.yml), C(virtual_machines.yaml), C(kubevirt.yml) or
    C(kubevirt.yaml), such as C(shop.kubevirt.yml). In AWX it is a file of the project, with a credential of the type
    OpenShift or Kubernetes API Bearer Token, which sets E(K8S_AUTH_HOST), E(K8S_AUTH_API_KEY), E(K8S_AUTH_VERIFY_SSL)
    and E(K8S_AUTH_SSL_CA_CERT).
options:
  plugin:
    description: Name of this plugin.
    type: str
    required: true
    choices: [virtshape.instancetypes.virtual_machines]
  namespaces:
    description: Namespaces of the VMs, each listed separately. Default is all namespaces, which requires the right to
      list VMs in all namespaces.
    type: list
    elements: str
  label_selectors:
    description: Label selectors that the VMs must all match.
    type: list
    elements: str
    default: []
  only_running:
    description: Whether to leave out VMs without a running guest. A paused guest and a migrating guest count as
      running.
    type: bool
    default: false
  address:
    description:
      - Source of C(ansible_host). Without a running guest or a known address, the variable is not set, and Ansible uses
        the name of the host as its address.
      - V(interface) is the address of an interface of the guest, as reported by the cluster. An address of the pod
        network is reachable only from within the cluster. If QEMU runs the guest in a local cluster on this machine, it
        is the forwarded port of the guest's SSH server instead, with C(ansible_port), unless O(interface) is set.
      - V(service) is the address of a Service of type LoadBalancer, or else of type NodePort, that leads to
        O(service_port) of this guest and of no other. C(ansible_port) is the port of the Service. A NodePort uses the
        external or else the internal address of the guest's node, or the name of the node if the user may not list
        nodes.
      - With V(none), O(compose) can set the variable.
    type: str
    choices: [interface, service, none]
    default: interface
  interface:
    description: Name of the interface in the VM, which is also the name of its network, or its name in the guest.
      Default is the first interface of the VM with an address.
    type: str
    aliases: [network]
  ip_family:
    description: IP version of the address. The plugin ignores loopback and link-local addresses.
    type: str
    choices: [prefer_ipv4, prefer_ipv6, ipv4, ipv6]
    default: prefer_ipv4
  service_port:
    description: Target port of the Service in the guest, for O(address=service).
    type: int
    default: 22
  windows_connection:
    description:
      - C(ansible_connection) of hosts with Windows; with V(ssh) also C(ansible_shell_type), which is C(powershell).
        Default is to set neither.
      - A guest has Windows if its guest agent says so. Without a guest agent, the annotation C(vm.kubevirt.io/os) of
        the VM's template decides, else the name of its preference.
      - The other variables, such as C(ansible_winrm_transport), are for C(group_vars) or O(compose).
    type: str
    choices: [winrm, psrp, ssh]
  host_format:
    description: Format of the host names, with C({name}), C({namespace}) and C({uid}) of the VM. Every VM must get a
      different name.
    type: str
    default: "{name}.{namespace}"
  hostvars_prefix:
    description:
      - Prefix of the variables.
      - The variables are those that M(virtshape.instancetypes.virtual_machine_info) returns for a VM, for example
        C(vm_name), C(vm_namespace), C(vm_labels), C(vm_status), C(vm_ready), C(vm_run_strategy), C(vm_conditions),
        C(vm_restart_required), C(vm_drifted), C(vm_revisions_lost_by), C(vm_instancetype), C(vm_preference),
        C(vm_resources), C(vm_problem) and C(vm_vmi), as well as C(vm_annotations), without the last-applied
        manifest of kubectl.
      - C(vm_drifted) is null if unknown.
    type: str
    default: vm_
notes:
  - The cache is valid for the same options only. It has no credentials.
  - The connection options, such as C(api_key), may be templates, for example a lookup.
extends_documentation_fragment:
  - virtshape.instancetypes.auth
  - ansible.builtin.constructed
  - ansible.builtin.inventory_cache
seealso:
  - module: virtshape.instancetypes.virtual_machine_info
"""

EXAMPLES = r"""
# Only plugin is required: it lists all VMs that one may see. Here they are the running VMs of two namespaces, reached
# through Services, in groups by instancetype and guest.
plugin: virtshape.instancetypes.virtual_machines
namespaces: [shop, office]
label_selectors: ["tier in (web, database)"]
only_running: true
address: service
keyed_groups:
  - key: vm_namespace
    separator: ""
  - key: vm_instancetype.name
    prefix: instancetype
  - key: vm_vmi.guest_os.id
    prefix: os
groups:
  drifted: vm_drifted
  deprecated: vm_instancetype.object_state | default("") == "deprecated"
  restart: vm_restart_required
  large: vm_resources.guest.memory_bytes | default(0) >= 16 * 1024 ** 3
compose:
  ansible_user: "'fedora' if vm_preference.name is match('fedora') else 'cloud-user'"
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from typing import Any

from ansible.errors import AnsibleError, AnsibleParserError
from ansible.module_utils.basic import missing_required_lib
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.plugins.inventory import BaseInventoryPlugin, Cacheable, Constructable

from ..module_utils._capacity.cluster.vm_resources import vm_resources
from ..module_utils._cluster.client.errors import RequestFailed
from ..module_utils._cluster.client.libraries import LIBRARIES, MISSING
from ..module_utils._cluster.client.session import Session
from ..module_utils._cluster.modules.results import server_warnings
from ..module_utils._cluster.modules.shared_options import AUTH, REQUESTS
from ..module_utils._resolver.declare.option_checks import shape_problem, unknown_option
from ..module_utils._resolver.secrets.redaction import mask_secrets, without_logins
from ..module_utils._resolver.secrets.secret_texts import environment_secrets, option_secrets, secret_texts
from ..plugin_utils._actions.kubeconfig import on_controller
from ..plugin_utils._inventory.hosts import check_options, hosts

try:
    from ansible.template import trust_as_template
except ImportError:
    # Up to ansible-core 2.18 all text is trusted unless it is marked as unsafe.
    from ansible.utils.unsafe_proxy import wrap_var as untrusted

    def trust_as_template(value: str) -> str:
        return value

else:
    # Later, text that nobody has marked as trusted is never a template.
    def untrusted(value: str) -> str:
        return value


_FILES = tuple(f"{name}.{ending}" for name in ("virtual_machines", "kubevirt") for ending in ("yml", "yaml"))
_READ = (
    "namespaces",
    "label_selectors",
    "only_running",
    "address",
    "interface",
    "ip_family",
    "service_port",
    "windows_connection",
    "host_format",
    "hostvars_prefix",
)
_OWN = (*_READ, *REQUESTS)
# Marks that Ansible takes for a template.
_TEMPLATE = ("{{", "{%", "{#")
# Options of the connection that may be secret, and do not identify a source.
_SECRET = ("api_key", "password", "kubeconfig", "proxy_headers")


class InventoryModule(BaseInventoryPlugin, Constructable, Cacheable):
    NAME = "virtshape.instancetypes.virtual_machines"

    def verify_file(self, path: str) -> bool:
        return super().verify_file(path) and path.endswith(_FILES)

    def parse(self, inventory: Any, loader: Any, path: str, cache: bool = True) -> None:
        super().parse(inventory, loader, path, cache)
        if MISSING:
            raise AnsibleParserError(missing_required_lib(LIBRARIES))
        self._check(loader.load_from_file(path, cache="none"))
        config = self._read_config_data(path)
        self._populate(self._cached(self._connection(config), path, cache))

    def _check(self, config: Any) -> None:
        """Ansible passes over options that there are not, and takes any text for a boolean."""
        if config is not None and not isinstance(config, Mapping):
            raise AnsibleParserError(f"expected options of {self.NAME}, found {type(config).__name__}")
        definitions = self.option_definitions
        option_names = _names(definitions)
        for option in config or {}:
            if option not in option_names:
                raise AnsibleParserError(
                    f"{option}: unknown option{unknown_option(option, {name: {} for name in sorted(option_names)})}"
                )
        parts = ("type", "elements", "choices", "aliases")
        spec = {name: {part: definitions[name][part] for part in parts if part in definitions[name]} for name in _OWN}
        connection = {name: value for name, value in (config or {}).items() if name in _names(AUTH)}
        if problem := shape_problem(connection, AUTH):
            raise AnsibleParserError(problem)
        _validated({**spec, **AUTH}, {name: value for name, value in (config or {}).items() if not _is_template(value)})

    def _cached(self, connection: dict[str, Any], path: str, cache: bool) -> dict[str, dict[str, Any]]:
        options = {name: self.get_option(name) for name in _READ}
        check_options(options["host_format"], options["hostvars_prefix"])
        if not self.get_option("cache"):
            return self._hosts(connection, options)
        identity = {
            name: without_logins(str(value), name)
            for name, value in connection.items()
            if name not in _SECRET and value is not None
        }
        kubeconfig = connection["kubeconfig"] if isinstance(connection["kubeconfig"], str) else ""
        source = json.dumps([options, identity, kubeconfig], sort_keys=True)
        key = f"{self.get_cache_key(path)}_{hashlib.sha256(source.encode()).hexdigest()[:12]}"
        if cache:
            # One that has expired is no key either.
            with contextlib.suppress(KeyError):
                cached: dict[str, dict[str, Any]] = self._cache[key]
                return cached
        hosts = self._hosts(connection, options)
        self._cache[key] = hosts
        return hosts

    def _connection(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """The options of the connection with what the environment gives in their place, as the modules have them."""
        configured = {name: self.templar.template(config[name]) for name in config if name in _names(AUTH)}
        return {**_validated(AUTH, configured), **{name: self.get_option(name) for name in REQUESTS}}

    def _hosts(self, connection: dict[str, Any], options: dict[str, Any]) -> dict[str, dict[str, Any]]:
        try:
            kubeconfig = on_controller(connection, os.environ, self.loader)
        except AnsibleError as error:
            raise AnsibleParserError(str(error)) from None
        try:
            session = Session(connection if kubeconfig is None else {**connection, "kubeconfig": kubeconfig})
            variables_by_host, warnings = hosts(session, options, vm_resources)
        except RequestFailed as error:
            more = ", or set namespaces to those that you may read"
            raise AnsibleParserError(
                f"{error}{more if error.code == 403 and options['namespaces'] is None else ''}"
            ) from None
        for warning in (*warnings, *server_warnings([session], warnings)):
            self.display.warning(warning)
        return variables_by_host

    def _populate(self, variables_by_host: dict[str, dict[str, Any]]) -> None:
        strict = self.get_option("strict")
        for name, variables in variables_by_host.items():
            self.inventory.add_host(name)
            variables = _with_trust(variables)
            for variable, value in variables.items():
                self.inventory.set_variable(name, variable, value)
            try:
                self._set_composite_vars(self.get_option("compose"), variables, name, strict=strict)
                self._add_host_to_composed_groups(self.get_option("groups"), variables, name, strict=strict)
                self._add_host_to_keyed_groups(self.get_option("keyed_groups"), variables, name, strict=strict)
            except AnsibleError as error:
                raise AnsibleParserError(f"{name}: {' '.join(str(error).split())}") from None


def _is_template(value: Any) -> bool:
    return isinstance(value, str) and any(sign in value for sign in _TEMPLATE)


def _names(options: dict[str, Any]) -> set[str]:
    return {name for option, entry in options.items() for name in (option, *entry.get("aliases", []))}


def _validated(spec: dict[str, Any], config: Mapping[str, Any]) -> dict[str, Any]:
    """The options that the spec has, with their values as modules would get them."""
    configured = {name: value for name, value in config.items() if name in _names(spec) and value is not None}
    result = ArgumentSpecValidator(spec).validate(configured)
    if result.error_messages:
        secrets = secret_texts(dict(config)) | option_secrets(dict(config), spec) | environment_secrets(os.environ)
        texts = mask_secrets(result.error_messages, secrets)
        raise AnsibleParserError("; ".join(" ".join(text.split()) for text in texts))
    return {name: result.validated_parameters.get(name) for name in spec}


def _with_trust(value: Any) -> Any:
    """The value with text trusted unless it looks like a template: who may annotate a VM must not run one here.

    Trusted text is what `ansible-inventory --list`, and with it AWX, shows as plain text.
    """
    if isinstance(value, dict):
        return {name: _with_trust(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [_with_trust(entry) for entry in value]
    if isinstance(value, str):
        return untrusted(value) if _is_template(value) else trust_as_template(value)
    return value
