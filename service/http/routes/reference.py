"""GET /openapi.json; GET /docs: the API in Swagger UI, without files from other servers.

The package fastapi-offline contains the files of Swagger UI. They are larger than this service, so
they are a dependency and not part of the wheel.
"""

from functools import cache
from importlib.resources import files
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from manyclass.service.http.documents import Document, document_of
from manyclass.service.http.prefix import Prefix
from manyclass.service.http.problems import Problem

router = APIRouter(include_in_schema=False)

FILES: Final = ("swagger-ui.css", "swagger-ui-bundle.js")

# Addresses are relative, so that a proxy can serve the page below a path of its own.
PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Manyclass: the interface</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/files/swagger-ui.css">
</head>
<body>
<div id="reference"><a href="openapi.json">openapi.json</a></div>
<script src="docs/files/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
"""
# Without validatorUrl null, Swagger UI sends the document to a validator on the internet.
START: Final = """SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#reference",
  validatorUrl: null,
  deepLinking: true,
  displayOperationId: true,
});
"""
# The browser sends requests to this service only. Swagger UI has styles in its elements.
POLICY: Final = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
)
_NOSNIFF = {"X-Content-Type-Options": "nosniff"}


@cache
def _swagger_ui() -> dict[str, Document]:
    static = files("fastapi_offline") / "static"
    return {name: document_of(name, (static / name).read_bytes()) for name in FILES}


@router.get("/openapi.json")
async def openapi(request: Request) -> Response:
    """Return the document of the API."""
    prefix: Prefix = request.app.state.prefix
    document: Document = request.app.state.document(prefix.of(request.headers))
    return document.answer(request, _NOSNIFF)


@router.get("/docs")
async def page() -> HTMLResponse:
    """Return the page."""
    return HTMLResponse(PAGE, headers={"Content-Security-Policy": POLICY, **_NOSNIFF})


@router.get("/docs/start.js")
async def start() -> Response:
    """Return the script by which the page starts Swagger UI."""
    return Response(START, media_type="text/javascript", headers=_NOSNIFF)


@router.get("/docs/files/{name:path}")
async def file(name: str, request: Request) -> Response:
    """Return a file of Swagger UI."""
    document = _swagger_ui().get(name)
    if document is None:
        raise Problem(404, f"The reference has no file {name[:100]!r}.")
    return document.answer(request, _NOSNIFF)
