"""The command line: `python -m local_cluster {build,start,stop,status,faults,console}`.

The result is a JSON object on stdout, with `changed`; progress goes to stderr. A failure is `{"failed": true, "msg":
...}` and exit code 1 (2 for a wrong command line, 130 after a signal).
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from local_cluster.errors import Interrupted, LauncherError
from local_cluster.paths import Layout, check_name, default_state_dir


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    options = _parser().parse_args(argv)
    try:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, _raise_interrupted)
        result = options.run(options)
    except Interrupted as error:
        return _fail(str(error), code=130)
    except LauncherError as error:
        return _fail(str(error))
    except ModuleNotFoundError as error:
        # Commands import what they need: a build, only the standard library.
        return _fail(
            f"python: {sys.executable} lacks {error.name}; run '{sys.executable} -m pip install cryptography PyYAML' "
            "or use another Python"
        )
    except OSError as error:
        return _fail(f"{error.filename or 'local cluster'}: {error.strerror or error}")
    if result is not None:
        print(json.dumps(result, indent=2))
    return 0


def _fail(message: str, code: int = 1) -> int:
    print(json.dumps({"failed": True, "changed": False, "msg": message}, indent=2))
    print(f"error: {message}", file=sys.stderr)
    return code


def _progress(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _raise_interrupted(number: int, _frame: object) -> None:
    """Signal handler: raises Interrupted, so that the launcher cleans up."""
    raise Interrupted(f"ended by {signal.Signals(number).name}")


def _layout(options: argparse.Namespace) -> Layout:
    name = check_name(options.name)
    return Layout(Path(options.dir).expanduser().absolute() if options.dir else default_state_dir(name))


def _build(options: argparse.Namespace) -> dict[str, Any]:
    from local_cluster import build, versions

    release = _release(options)[0] if options.kubevirt else ""
    programs = build.ProgramSet(
        options.kubernetes_version or versions.default_kubernetes(),
        release,
        guests=options.guests == "qemu",
    )
    changed = False
    if options.wait is not None:
        build.wait(programs, options.wait)
    elif not options.check:
        changed = build.build(programs, _progress)
    return {"changed": changed, **build.status(programs)}


def _release(options: argparse.Namespace) -> tuple[str, str]:
    """The release of KubeVirt, and a note if the cluster's data decide it against the default.

    A release that the user names counts first, then that of the data, then the default.
    """
    from local_cluster import versions

    default = versions.default_kubevirt()
    if options.kubevirt_version or not options.kubevirt:
        return str(options.kubevirt_version or default), ""
    kept = _layout(options).kept_release()
    if kept in ("", default):
        return default, ""
    return kept, (
        f"kubevirt_version: the cluster keeps KubeVirt {kept}, which wrote its data; set {default} to upgrade them"
    )


def _start(options: argparse.Namespace) -> dict[str, Any]:
    from local_cluster import cluster, guests, versions

    release, note = _release(options)
    settings = cluster.Settings(
        name=options.name,
        kubernetes_version=options.kubernetes_version or versions.default_kubernetes(),
        kubevirt=options.kubevirt,
        kubevirt_version=release,
        api_port=options.api_port,
        log_level=options.log_level,
        data=options.data,
        faults=options.faults,
        nodes=options.nodes,
        migratable=options.migratable,
        stop_seconds=options.stop_seconds,
        guests=options.guests,
        images=guests.absolute(options.images),
    )
    adjustments = cluster.Adjustments(
        namespaces=options.namespaces,
        reference_policy=options.reference_policy,
        fault_rules=options.fault_rules,
        fault_seed=options.fault_seed,
    )
    if note:
        _progress(note)
    result = cluster.start(_layout(options), settings, adjustments, _progress, options.timeout, check=options.check)
    return {**result, **({"note": note} if note else {})}


def _stop(options: argparse.Namespace) -> dict[str, Any]:
    from local_cluster import cluster

    return cluster.stop(_layout(options), keep_data=options.keep_data, remove=options.remove, check=options.check)


def _status(options: argparse.Namespace) -> dict[str, Any]:
    from local_cluster import cluster

    return cluster.status(_layout(options))


def _faults(options: argparse.Namespace) -> dict[str, Any]:
    from local_cluster import cluster

    control = cluster.running_faults(_layout(options))
    changed = False
    if options.rules is not None:
        changed = cluster.set_faults(control, options.rules, options.seed)
    shown = control.clear_counts() if options.clear_counts else control.show()
    return {"changed": changed, **shown}


def _console(options: argparse.Namespace) -> None:
    from local_cluster import guests

    guests.console(_layout(options), options.vm, log=options.log)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="local_cluster", description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(required=True, metavar="{build,start,stop,status,faults,console}")

    build = commands.add_parser("build", help="build the programs unless they are built")
    build.set_defaults(run=_build)
    _add_cluster_options(build, check=False)
    build.add_argument("--check", action="store_true", help="only report whether it is built")
    build.add_argument(
        "--wait",
        type=float,
        metavar="SECONDS",
        help="report the progress of a running build after this time, or at its end",
    )

    _add_version_option(build)

    start = commands.add_parser("start", help="start a cluster that does not run yet")
    start.set_defaults(run=_start)
    _add_cluster_options(start)
    start.add_argument("--api-port", type=_port, default=0, metavar="PORT", help="the API server's port; 0 for any")
    _add_version_option(start)
    start.add_argument(
        "--namespace",
        action="append",
        default=[],
        dest="namespaces",
        metavar="NAME",
        help="namespace to create; may be repeated",
    )
    start.add_argument(
        "--reference-policy",
        choices=["reference", "expand", "expandAll"],
        help="reference policy; unchanged by default, at first reference",
    )
    start.add_argument("--data", choices=["disk", "memory"], default="disk", help="place of the data")
    start.add_argument(
        "--nodes", type=_list, default=[], metavar="NODES", help="nodes, a list in JSON or YAML, or @FILE"
    )
    start.add_argument(
        "--migratable", action=argparse.BooleanOptionalAction, default=True, help="whether guests can migrate"
    )
    start.add_argument("--stop-seconds", type=float, default=0, help="how long a guest takes to shut down")
    start.add_argument(
        "--images",
        type=_mapping,
        default={},
        metavar="IMAGES",
        help="image or pattern: file, in JSON or YAML, or @FILE",
    )
    start.add_argument("--faults", action="store_true", help="start a fault proxy too, for kubeconfig-faults")
    start.add_argument("--fault-rules", type=_list, metavar="RULES", help="as --rules of the command faults")
    start.add_argument("--fault-seed", type=int, metavar="N", help="as --seed of the command faults")
    start.add_argument("--log-level", choices=["debug", "info", "warning", "error"], default="info")
    start.add_argument("--timeout", type=float, default=120, help="seconds for each part to become ready")

    stop = commands.add_parser("stop", help="stop a cluster and remove its data")
    stop.set_defaults(run=_stop)
    _add_cluster_options(stop)
    kept = stop.add_mutually_exclusive_group()
    kept.add_argument("--keep-data", action="store_true", help="keep the data for the next start")
    kept.add_argument("--remove", action="store_true", help="remove kubeconfig, certificates and logs too")

    status = commands.add_parser("status", help="show the state of a cluster")
    status.set_defaults(run=_status)
    _add_cluster_options(status, check=False)

    faults = commands.add_parser("faults", help="show or change the rules of the fault proxy, and show its counts")
    faults.set_defaults(run=_faults)
    _add_cluster_options(faults, check=False)
    faults.add_argument(
        "--rules",
        type=_list,
        metavar="RULES",
        help="the new rules: a list in JSON or YAML, or @FILE; [] for none",
    )
    faults.add_argument("--seed", type=int, metavar="N", help="seed of the rates, for repeatable faults")
    faults.add_argument("--clear-counts", action="store_true", help="reset the counts")

    console = commands.add_parser("console", help="connect with the serial console of a guest that QEMU runs")
    console.set_defaults(run=_console)
    _add_cluster_options(console, check=False)
    console.add_argument("vm", metavar="[NAMESPACE/]VM", help="the VM")
    console.add_argument("--log", action="store_true", help="print what the console has shown so far")
    return parser


def _add_version_option(parser: argparse.ArgumentParser) -> None:
    from local_cluster import versions

    for option, offered in {
        "--kubernetes-version": versions.kubernetes(),
        "--kubevirt-version": versions.kubevirt(),
    }.items():
        first, *others = offered
        parser.add_argument(option, metavar="VERSION", help=", ".join([f"{first} (the default)", *others]))
    parser.add_argument(
        "--kubevirt",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="whether KubeVirt and CDI run, or an API server only",
    )
    parser.add_argument(
        "--guests",
        choices=["simulated", "qemu"],
        default="simulated",
        help="whether QEMU runs guests with known images",
    )


def _list(text: str) -> list[Any]:
    rules = _value(text)
    if not isinstance(rules, list):
        raise argparse.ArgumentTypeError("is not a list")
    return rules


def _mapping(text: str) -> dict[str, str]:
    values = _value(text)
    if not isinstance(values, dict) or not all(isinstance(part, str) for item in values.items() for part in item):
        raise argparse.ArgumentTypeError("is not a mapping of images to files")
    return values


def _value(text: str) -> Any:
    import yaml

    try:
        return yaml.safe_load(Path(text[1:]).read_text() if text.startswith("@") else text)
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise argparse.ArgumentTypeError(" ".join(str(error).split())) from error


def _add_cluster_options(parser: argparse.ArgumentParser, *, check: bool = True) -> None:
    parser.add_argument("--name", default="default", help="the cluster's name; several run side by side")
    parser.add_argument("--dir", help="state directory (default: a directory of this name under $XDG_STATE_HOME)")
    if check:
        parser.add_argument("--check", action="store_true", help="only report what would change")


def _port(text: str) -> int:
    number = int(text)
    if not 0 <= number <= 65535:
        raise argparse.ArgumentTypeError(f"{text} is not a port")
    return number
