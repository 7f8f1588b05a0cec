"""Objects of the cluster for the resolver, read on first use, or for many namespaces at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from ..._resolver.api.errors import KubeVirtError
from ..._resolver.api.kinds import EXISTENCE_ONLY, KINDS, Kind
from ..._resolver.api.manifest import Manifest
from ..._resolver.api.matcher import ObjectKey
from ..._resolver.kubevirt.cluster import Cluster
from ..._resolver.preflight.object_keys import ObjectToRead, further_keys
from ..client.concurrency import map_concurrently
from ..client.errors import RequestFailed
from ..client.session import Session
from .kubevirt import kubevirt


def _unreadable(error: RequestFailed) -> KubeVirtError:
    """The error for an object that cannot be read, with the remedy."""
    return KubeVirtError(str(error), error.reason, error.code)


# Few objects that many questions need: list them at once.
_LISTED = frozenset(name for name in KINDS if name.endswith(("Instancetype", "Preference")))
# From this number of single reads of a kind and namespace, one LIST costs less.
_SINGLE_READS = 3


_Collection = tuple[str, str]


def _collection(kind: str, namespace: str) -> _Collection:
    return kind, namespace if KINDS[kind].namespaced else ""


class ClusterLookup:
    """A find.Lookup on an API server: few GETs, or one LIST, for each kind and namespace.

    Call `gather` first for the expected objects; others are read on demand. Threads may share a lookup. It reads only
    the metadata of objects that matter only by their existence.
    """

    def __init__(
        self, session: Session, *, all_namespaces: bool = False, strict: bool = False, single: bool = False
    ) -> None:
        """Reads nothing yet.

        all_namespaces: list a kind in all namespaces at once; if the user may not, in each requested one.
        strict: send no GETs, and of the errors keep only a missing permission for `get`; raise others at once.
        single: send only GETs, one for each object, even if strict.
        """
        self.session = session
        self._all_namespaces = all_namespaces
        self._strict = strict
        self._single = single
        # The objects that were read alone, and the lists by namespace (None: all), or why they cannot be read.
        self._objects: dict[_Collection, dict[str, Manifest | KubeVirtError | None]] = {}
        self._lists: dict[tuple[str, str | None], dict[str, dict[str, Manifest]] | KubeVirtError] = {}
        self._locks: dict[tuple[str, str | None], threading.Lock] = {}
        self.problems: dict[str, KubeVirtError] = {}
        """Kind → why it could not be listed, in the first such namespace."""

    @property
    def cluster(self) -> Cluster:
        """The cluster with these objects."""
        return Cluster(self, kubevirt(self.session))

    def get(self, kind: str, namespace: str, name: str) -> Manifest | None:
        """See find.Lookup. The error for an object that cannot be read has the remedy."""
        found = self._found(kind, namespace, name)
        if isinstance(found, KubeVirtError):
            raise found.with_traceback(None)
        return found

    def _found(self, kind: str, namespace: str, name: str) -> Manifest | KubeVirtError | None:
        collection = _collection(kind, namespace)
        single = self._objects.setdefault(collection, {})
        if name in single:
            return single[name]
        if collection in self._lists or self._is_list_due(collection, len(single) + 1):
            listed = self._listed(collection)
            return listed if isinstance(listed, KubeVirtError) else listed.get(name)
        try:
            single[name] = self.session.get(KINDS[kind], namespace or None, name, kind in EXISTENCE_ONLY)
        except RequestFailed as error:
            if self._strict and error.code not in (403, 404):
                raise
            single[name] = None if self._strict and error.code == 404 else _unreadable(error)
        return single[name]

    def list(self, kind: str, namespace: str) -> list[Manifest]:
        """All objects of a kind in a namespace ("" for a cluster-wide kind); empty if they cannot be read."""
        listed = self._listed(_collection(kind, namespace))
        return [] if isinstance(listed, KubeVirtError) else list(listed.values())

    def problem(self, kind: str, namespace: str) -> KubeVirtError | None:
        """Why a list cannot be read, or None."""
        listed = self._listed(_collection(kind, namespace))
        return listed if isinstance(listed, KubeVirtError) else None

    def gather(self, needed: Iterable[ObjectToRead]) -> None:
        """Reads these objects and the objects to which they refer, concurrently. `get` then needs no request."""
        pending = list(needed)
        gathered = set(pending)
        while pending:
            self._read(pending)
            after = [more for key in pending for more in further_keys(key, self._cached(key.key))]
            pending = [key for key in dict.fromkeys(after) if key not in gathered]
            gathered.update(pending)

    def gather_lists(self, collections: Iterable[tuple[str, str]]) -> None:
        """Lists kinds in namespaces concurrently; later calls need no request."""
        map_concurrently(self._listed, {_collection(*collection): None for collection in collections})

    def _read(self, needed: Iterable[ObjectToRead]) -> None:
        collections: dict[_Collection, set[str]] = {}
        for key, _vm_namespace, _fallback in needed:
            collection = _collection(key.kind, key.namespace)
            if collection not in self._lists and key.name not in self._objects.get(collection, ()):
                collections.setdefault(collection, set()).add(key.name)
        jobs: list[Callable[[], Any]] = []
        for collection, names in collections.items():
            if self._is_list_due(collection, len(self._objects.setdefault(collection, {})) + len(names)):
                jobs.append(partial(self._listed, collection))
            else:
                jobs += [partial(self._found, *collection, name) for name in sorted(names)]
        map_concurrently(lambda job: job(), jobs)

    def _is_list_due(self, collection: _Collection, reads: int) -> bool:
        """Whether one LIST costs less than this number of single reads."""
        return not self._single and (self._strict or collection[0] in _LISTED or reads > _SINGLE_READS)

    def _cached(self, key: ObjectKey) -> Manifest | None:
        found = self._found(key.kind, key.namespace, key.name)
        return found if isinstance(found, dict) else None

    def _listed(self, collection: _Collection) -> dict[str, Manifest] | KubeVirtError:
        """The objects of a kind in a namespace, by name."""
        kind, namespace = collection
        if self._all_namespaces and KINDS[kind].namespaced:
            objects = self._list(kind, None)
            if not isinstance(objects, KubeVirtError):
                return objects.get(namespace, {})
        objects = self._list(kind, namespace)
        if isinstance(objects, KubeVirtError):
            return self.problems.setdefault(kind, objects)
        return objects.get(namespace, {})

    def _list(self, kind: str, namespace: str | None) -> dict[str, dict[str, Manifest]] | KubeVirtError:
        """The objects of a kind by namespace and name. namespace: the one to list, None for all."""
        place = kind, namespace
        if place not in self._lists:
            # One thread asks, and the others wait for its answer.
            with self._locks.setdefault(place, threading.Lock()):
                if place not in self._lists:
                    self._lists[place] = self._list_or_problem(KINDS[kind], namespace)
        return self._lists[place]

    def _list_or_problem(self, kind: Kind, namespace: str | None) -> dict[str, dict[str, Manifest]] | KubeVirtError:
        try:
            items = self.session.list(kind, namespace or None, kind.kind in EXISTENCE_ONLY)
        except RequestFailed as error:
            if self._strict and error.code not in (403, 404):
                raise
            # If the API does not exist, for example without CDI, there are no such objects.
            return {} if error.code == 404 else _unreadable(error)
        objects: dict[str, dict[str, Manifest]] = {}
        for item in items:
            metadata = item["metadata"]
            place = metadata["namespace"] if namespace is None else namespace
            objects.setdefault(place, {})[metadata["name"]] = item
        return objects
