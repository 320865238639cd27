"""Stands in for a process of the service: says what it is told to, and what it was asked."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Upstream:
    """Listens until the end of the `with` it is used in.

    It answers with `status`, or closes the connection without an answer when that is None.
    """

    def __init__(self, name):
        self.name = name
        self.status = 200
        self.forget()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    def __enter__(self):
        self._thread.start()
        return self

    def forget(self):
        """Count from here on."""
        self.begun = 0  # requests whose head came
        self.asked = []  # (method, path, headers, length of the body) of each that is whole
        self.connections = 0

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handler(self):
        upstream = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = 65_536  # head and body leave together

            def setup(self):
                super().setup()
                upstream.connections += 1

            def do_GET(self):
                upstream._answer(self)

            do_POST = do_DELETE = do_GET

            def log_message(self, *_):
                pass

        return Handler

    def _answer(self, handler):
        self.begun += 1
        body = handler.rfile.read(int(handler.headers.get("content-length", 0)))
        self.asked.append((handler.command, handler.path, dict(handler.headers), len(body)))
        if self.status is None:
            handler.close_connection = True
            return
        handler.send_response(self.status)
        handler.send_header("content-length", str(len(self.name)))
        handler.end_headers()
        handler.wfile.write(self.name.encode())
