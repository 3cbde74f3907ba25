"""Makes one request to a daemon: `request.py SOCKET METHOD PATH BODY` prints the status, a space and the answer."""

import http.client
import socket
import sys

if __name__ == "__main__":
    path, method, target, body = sys.argv[1:]
    asking = http.client.HTTPConnection("covey")
    asking.sock = socket.socket(socket.AF_UNIX)
    asking.sock.connect(path)
    asking.request(method, target, body, {"Content-Type": "application/json"})
    answer = asking.getresponse()
    print(answer.status, answer.read().decode())  # noqa: T201 - its result
