"""Every call of the document, the scope of keys that it needs, and a request that succeeds."""

import json
from itertools import count

from manyclass.service.http.auth import Scope
from tests.training.tables.workbooks import workbook

SCOPES = {  # of each call in the document; None needs no key
    "POST /rank": Scope.RANK,
    "POST /learn": Scope.LEARN,
    "POST /sheets": Scope.LEARN,
    "GET /classes": Scope.RANK,
    "GET /classes/{name}": Scope.RANK,
    "PUT /classes/{name}": Scope.LEARN,
    "POST /classes": Scope.LEARN,
    "DELETE /classes/{name}": Scope.ADMIN,
    "POST /titles": Scope.RANK,
    "GET /taxonomy": Scope.RANK,
    "GET /features": Scope.RANK,
    "GET /features/{name}": Scope.RANK,
    "DELETE /features/{name}": Scope.ADMIN,
    "GET /learners": Scope.RANK,
    "POST /learners": Scope.ADMIN,
    "DELETE /learners/{name}": Scope.ADMIN,
    "POST /advice": Scope.ADMIN,
    "GET /advice": Scope.LEARN,
    "DELETE /advice": Scope.ADMIN,
    "POST /learners/{name}/promote": Scope.ADMIN,
    "GET /operating-points": Scope.RANK,
    "GET /events": Scope.LEARN,
    "GET /events/{name}": Scope.LEARN,
    "PUT /events/{name}": Scope.LEARN,
    "POST /classes/{name}": Scope.ADMIN,
    "DELETE /events/{name}": Scope.ADMIN,
    "DELETE /events": Scope.ADMIN,
    "GET /confusions": Scope.LEARN,
    "GET /suspects": Scope.LEARN,
    "GET /quality": Scope.LEARN,
    "GET /quality/classes": Scope.LEARN,
    "POST /rebuild": Scope.ADMIN,
    "GET /rebuild": Scope.LEARN,
    "GET /aliases": Scope.RANK,
    "GET /review": Scope.LEARN,
    "GET /review/agreement": Scope.LEARN,
    "POST /review": Scope.LEARN,
    "POST /review/leases": Scope.LEARN,
    "POST /review/undo": Scope.LEARN,
    "GET /state": Scope.ADMIN,
    "GET /stats": Scope.RANK,
    "GET /settings": Scope.ADMIN,
    "GET /snapshots": Scope.ADMIN,
    "POST /snapshots": Scope.ADMIN,
    "POST /snapshots/{seq}/restore": Scope.ADMIN,
    "GET /livez": None,
    "GET /readyz": None,
    "GET /metrics": None,
}
EVENT = {"features": ["svm"], "classes": ["svm"]}
BODIES = {
    "POST /rank": {"features": ["svm"]},
    "POST /learn": EVENT,
    "PUT /classes/{name}": {"parent": "learners"},
    "POST /classes": {"parents": {"svm": "learners"}},
    "POST /titles": {"classes": ["svm"]},
    "PUT /events/{name}": {"classes": ["ff"]},
    "POST /learners": {"learner": "pa"},
    "POST /review": {"instances": [{"features": ["svm"]}]},
    "POST /review/leases": {"reviewer": "anna", "renew": ["q"]},
    "POST /review/undo": {"id": "q"},
}
FIRST_EVENT = "seq:1"
RENAME = "POST /classes/{name}"
REMOVAL = "DELETE /learners/{name}"
NUMBERS = count()


async def call_of(call, name, headers):
    """Return the answer to a call; it succeeds once EVENT is learned."""
    named = FIRST_EVENT if "/events/" in name else "svm"
    if name == RENAME:  # a class of its own, which is not in the taxonomy
        named = f"class-{next(NUMBERS)}"
        event = json.dumps({"features": [named], "classes": [named]}).encode()
        await call("POST", "/learn", event, headers=headers)
        body = json.dumps({"rename": f"{named}-now"}).encode()
        return await call("POST", f"/classes/{named}", body, headers=headers)
    if name == REMOVAL:  # of a shadow, which was added before
        await call("POST", "/learners", b'{"learner": "ema"}', headers=headers)
        named = "ema"
    if name == "POST /sheets":
        binary = {**headers, "content-type": b"application/octet-stream"}
        return await call("POST", "/sheets", workbook([["text"]]), headers=binary)
    if name == "POST /review/undo":  # of a label
        body = json.dumps({"features": ["svm"], "id": "q"}).encode()
        await call("POST", "/rank", body, headers=headers)
        body = json.dumps({"id": "q", "classes": ["svm"]}).encode()
        await call("POST", "/learn", body, headers=headers)
    method, path = name.format(name=named, seq=0).split()
    path += "?source=nobody" if name == "DELETE /events" else ""
    body = json.dumps(BODIES[name]).encode() if name in BODIES else None
    return await call(method, path, body, headers=headers)
