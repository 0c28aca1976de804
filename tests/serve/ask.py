"""Asks what standard input says, one request a connection, and prints the answers."""

import http.client
import json
import sys

asked = json.load(sys.stdin)
answers = []
for method, path, body in asked["requests"]:
    connection = http.client.HTTPConnection(asked["host"], timeout=60)
    headers = dict(asked["headers"])
    if body:
        headers["Content-Type"] = "application/json"
    connection.request(method, path, body.encode() or None, headers)
    response = connection.getresponse()
    text = response.read().decode()
    fields = {name.lower(): value for name, value in response.getheaders()}
    answers.append({"status": response.status, "headers": fields, "body": json.loads(text)})
    connection.close()
json.dump(answers, sys.stdout)
