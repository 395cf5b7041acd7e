# SPDX-License-Identifier: MIT
"""An OTLP receiver on the loopback interface that answers as a test wants it to."""
import gzip
import http.server
import json
import threading


class Request:
    """One POST: path, headers (names in lower case), the body as it came, and its JSON."""

    def __init__(self, path, headers, body):
        self.path = path
        self.headers = {name.lower(): value for name, value in headers.items()}
        self.body = body
        packed = self.headers.get("content-encoding") == "gzip"
        self.text = (gzip.decompress(body) if packed else body).decode("utf-8")
        self.json = json.loads(self.text)


class Answer:
    """What to answer. `hang_up`: close the connection instead. `wait`: an event to wait for before."""

    def __init__(self, status=200, body=b"{}", headers=None, hang_up=False, wait=None):
        self.status, self.body, self.headers, self.hang_up, self.wait = status, body, headers or {}, hang_up, wait


class Receiver:
    """`answers` are used one after the other; then every request is taken."""

    def __init__(self, answers=(), context=None):
        self.requests = []
        left = list(answers)
        lock = threading.Lock()
        requests = self.requests

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                with lock:
                    requests.append(Request(self.path, self.headers, body))
                    answer = left.pop(0) if left else Answer()
                if answer.wait:
                    answer.wait.wait()
                if answer.hang_up:
                    self.close_connection = True
                    return
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer.body)))
                self.end_headers()
                self.wfile.write(answer.body)

            def log_message(self, *arguments):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            block_on_close = False

            def handle_error(self, request, client_address):
                pass  # a client that gave up

        self.server = Server(("127.0.0.1", 0), Handler)
        if context:
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.scheme = "https" if context else "http"

    @property
    def url(self):
        return f"{self.scheme}://127.0.0.1:{self.server.server_address[1]}"

    def of(self, path):
        return [request for request in self.requests if request.path == path]

    def __enter__(self):
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
