"""Serves a folder on a free port: with ranges; under /plain/ without; under /cut/ only half a file."""

import http.server
import pathlib
import re
import sys


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        parts = self.path.strip("/").split("/")
        mode = parts[0] if len(parts) > 1 else ""
        file = pathlib.Path(sys.argv[1]) / parts[-1]
        if not file.is_file():
            self.send_error(404)
            return
        data = file.read_bytes()
        start = 0
        match = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if match and mode != "plain":
            start = int(match[1])
            print(f"range {start}-", flush=True)
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        else:
            self.send_response(200)
        self.send_header("Content-Length", str(len(data) - start))
        self.end_headers()
        self.wfile.write(data[start : len(data) // 2 if mode == "cut" else len(data)])


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
pathlib.Path(sys.argv[2]).write_text(str(server.server_port))
server.serve_forever()
