"""Objects in objects: answers of APIs, settings, manifests."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from tests.retrieve.needles.needle import Needle, compact, day, iso, needle, pretty, sentence, spot


@needle(200, 5000)
def page_with_a_warning(rng: Random, count: int) -> Needle:
    """A key of the whole that is not in the rows."""
    answer = {
        "object": "list",
        "data": [
            {
                "id": f"cus_{rng.getrandbits(56):014x}",
                "balance": rng.randrange(9000),
                "created": iso(-n * 500),
                "live": True,
            }
            for n in range(count)
        ],
        "paging": {"next": f"cursor_{rng.getrandbits(64):016x}", "has_more": True},
        "warnings": ["quota of tenant 7 ends on 9 May at noon"],
    }
    return Needle(pretty(answer), "quota of tenant 7 ends on 9 May")


def _service(rng: Random) -> dict[str, Any]:
    return {
        "image": f"registry.example.org/app:{rng.randrange(100, 400)}",
        "replicas": rng.choice((2, 3, 3, 4)),
        "limits": {"cpu": rng.choice(("500m", "1", "2")), "memory": rng.choice(("512Mi", "1Gi", "2Gi"))},
        "probes": {"live": "/healthz", "ready": "/readyz"},
        "env": {"LOG": "info", "ZONE": rng.choice("abc")},
    }


@needle(160, 6000)
def one_service_differs(rng: Random, count: int) -> Needle:
    """A map of services by name, all of one shape but for one."""
    services = {f"svc-{rng.getrandbits(32):08x}": _service(rng) for _ in range(count)}
    name = list(services)[spot(rng, count, "any")]
    services[name]["debug"] = {"shell": True, "since": "opened by Ragnhild for ticket 5519"}
    return Needle(pretty({"version": 3, "services": services}), "opened by Ragnhild for ticket 5519")


@needle(250, 8000)
def locked_package(rng: Random, count: int) -> Needle:
    """One package comes from somewhere else."""

    def entry(name: str) -> dict[str, Any]:
        version = f"{rng.randrange(9)}.{rng.randrange(20)}.{rng.randrange(9)}"
        return {
            "version": version,
            "resolved": f"https://registry.example.org/{name}/-/{name}-{version}.tgz",
            "integrity": f"sha512-{rng.getrandbits(240):060x}==",
            "license": rng.choice(("MIT", "MIT", "MIT", "ISC", "Apache-2.0")),
        }

    names = [f"{rng.choice(('left', 'is', 'to', 'has'))}-{rng.getrandbits(28):07x}" for _ in range(count)]
    packages = {f"node_modules/{name}": entry(name) for name in names}
    packages[f"node_modules/{names[spot(rng, count, 'any')]}"]["resolved"] = (
        "git+ssh://git@10.2.3.4/~bo/pad#wip"
    )
    return Needle(
        pretty({"name": "app", "lockfileVersion": 3, "packages": packages}), "git+ssh://git@10.2.3.4/~bo/pad"
    )


@needle(130, 2500)
def deprecated_operation(rng: Random, count: int) -> Needle:
    paths: dict[str, Any] = {}
    for n in range(count):
        paths[f"/v1/{rng.choice(('orders', 'users', 'stock'))}/{n}/{{id}}"] = {
            "get": {
                "operationId": f"get{n}",
                "summary": sentence(rng),
                "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}],
                "responses": {"200": {"description": "OK"}, "404": {"description": "Not found"}},
            }
        }
    operation = paths[list(paths)[spot(rng, count, "any")]]["get"]
    operation |= {"deprecated": True, "x-sunset": "goes dark on 2027-01-31"}
    return Needle(
        compact({"openapi": "3.1.0", "paths": paths}), "goes dark on 2027-01-31", "deprecated|sunset"
    )


@needle(90, 2500)
def pod_restarting(rng: Random, count: int) -> Needle:
    """Deep in one item of a list, a counter far out, and why beside it."""

    def pod(n: int) -> dict[str, Any]:
        name = f"cart-{rng.getrandbits(40):010x}"
        return {
            "metadata": {"name": name, "namespace": "prod", "labels": {"app": "cart", "rev": str(n % 5)}},
            "spec": {"nodeName": f"node-{rng.randrange(9)}", "priority": 0},
            "status": {
                "phase": "Running",
                "podIP": f"10.1.{n % 250}.{rng.randrange(250)}",
                "containerStatuses": [
                    {"name": "main", "ready": True, "restartCount": rng.choice((0, 0, 0, 1)), "lastState": {}}
                ],
            },
        }

    items = [pod(n) for n in range(count)]
    state = {"terminated": {"reason": "OOMKilled", "message": "heap of tile 512 grew"}}
    status = items[spot(rng, count, "middle")]["status"]["containerStatuses"][0]
    status |= {"restartCount": 47, "ready": False, "lastState": state}
    return Needle(compact({"kind": "List", "apiVersion": "v1", "items": items}), "heap of tile 512 grew")


@needle(150, 4000)
def tainted_resource(rng: Random, count: int) -> Needle:
    resources = [
        {
            "type": rng.choice(("aws_instance", "aws_eip", "aws_volume")),
            "name": f"r{n}",
            "instances": [
                {"schema_version": 1, "attributes": {"id": f"i-{rng.getrandbits(40):010x}", "tags": {}}}
            ],
        }
        for n in range(count)
    ]
    resources[spot(rng, count, "any")]["instances"] = [
        {"status": "tainted", "attributes": {"id": "i-0aa", "tags": {"why": "moved by hand to rack 12"}}}
    ]
    return Needle(
        pretty({"version": 4, "serial": 881, "resources": resources}), "moved by hand to rack 12", "tainted"
    )


@needle(160, 5000)
def archived_node(rng: Random, count: int) -> Needle:
    """Rows four levels down."""
    edges: list[dict[str, Any]] = [
        {
            "cursor": f"c{n:05}",
            "node": {
                "name": f"repo-{rng.getrandbits(32):08x}",
                "isArchived": False,
                "stars": rng.randrange(400),
                "description": sentence(rng),
            },
        }
        for n in range(count)
    ]
    edges[spot(rng, count, "any")]["node"] |= {"isArchived": True, "description": "superseded by Kestrel"}
    total = {"totalCount": count, "edges": edges, "pageInfo": {"hasNextPage": False}}
    return Needle(
        compact({"data": {"viewer": {"login": "ops", "repositories": total}}}), "superseded by Kestrel"
    )


@needle(700, 20_000)
def key_in_a_tree(rng: Random, count: int) -> Needle:
    """A tree of folders, as deep as it comes."""
    root: dict[str, Any] = {"name": "/", "children": []}
    folders = [root]
    for n in range(count):
        parent = rng.choice(folders[-40:])
        if rng.random() < 0.2:
            folders.append({"name": f"d{n}", "children": []})
            parent["children"].append(folders[-1])
        else:
            parent["children"].append(
                {"name": f"f{n}.{rng.choice(('txt', 'md', 'py'))}", "size": rng.randrange(90_000)}
            )
    folders[len(folders) // 2]["children"].insert(
        0, {"name": "old-vpn.pem", "size": 1704, "owner": "uid 1337"}
    )
    return Needle(compact(root), "uid 1337", r"\.pem")


@needle(250, 6000)
def two_lists_the_smaller_matters(rng: Random, count: int) -> Needle:
    audit = [
        {
            "at": iso(n * 90),
            "actor": rng.choice(("ci", "deploy-bot", "renovate")),
            "action": "merge",
            "result": "ok",
        }
        for n in range(60)
    ]
    audit[41] |= {"action": "force-push", "actor": "weekend account of Sjoerd"}
    members = [
        {"id": n, "login": f"user{n}", "since": day(-rng.randrange(2000)), "role": "member"}
        for n in range(count)
    ]
    return Needle(json.dumps({"members": members, "audit": audit}).encode(), "weekend account of Sjoerd")


@needle(60, 400)
def hole_in_a_matrix(rng: Random, count: int) -> Needle:
    """Numbers by two names; one is a text."""
    names = [f"s{n:03}" for n in range(count)]
    table: dict[str, dict[str, Any]] = {a: {b: rng.randrange(100, 999) for b in names} for a in names}
    table[names[spot(rng, count, "any")]][names[5]] = "closed: rockfall at km 18"
    return Needle(compact(table), "closed: rockfall at km 18")


@needle(180, 4500)
def settings_by_tenant(rng: Random, count: int) -> Needle:
    """Asked by the tenant's name: its settings are all small, the answer is three levels below the name."""
    tenants = {
        f"tenant-{rng.getrandbits(28):07x}": {
            "mail": {"from": f"no-reply+{n}@example.org", "tls": True},
            "retention": {"logs": {"days": rng.choice((30, 60, 90))}, "files": {"days": 365}},
        }
        for n in range(count)
    }
    tenants["tenant-morgenrot"] = {
        "mail": {"from": "post@example.org", "tls": True},
        "retention": {"logs": {"days": 3653, "why": "order of the court of Bari"}, "files": {"days": 365}},
    }
    return Needle(compact(dict(sorted(tenants.items()))), "order of the court of Bari", "tenant-morgenrot")
