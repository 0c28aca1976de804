

def _each_request(**fixed):
    once = NetBoxApiClient._request_once

    async def other(self, session, **more):
        return await once(self, session, **{**more, **fixed})

    NetBoxApiClient._request_once = other


def _each_call(**fixed):
    bounded = NetBoxApiClient.request_bounded

    async def other(self, method, path, **more):
        return await bounded(self, method, path, **{**more, **fixed})

    NetBoxApiClient.request_bounded = other


def _again(when):
    bounded = NetBoxApiClient.request_bounded

    async def other(self, method, path, **more):
        answer = error = None
        try:
            answer = await bounded(self, method, path, **more)
        except Exception as caught:
            error = caught
        if method == "POST" and when(answer, error):
            return await bounded(self, method, path, **more)
        if error is not None:
            raise error
        return answer

    NetBoxApiClient.request_bounded = other


def _answers(change):
    bounded = NetBoxApiClient.request_bounded

    async def other(self, method, path, **more):
        return change(await bounded(self, method, path, **more))

    NetBoxApiClient.request_bounded = other


def _payloads(change):
    bounded = NetBoxApiClient.request_bounded

    async def other(self, method, path, *, payload=None, **more):
        if payload and "proxmox_endpoint_ids" in payload:
            ids = change(payload["proxmox_endpoint_ids"])
            payload = {name: value for name, value in payload.items() if name != "proxmox_endpoint_ids"}
            if ids is not None:
                payload["proxmox_endpoint_ids"] = ids
        return await bounded(self, method, path, payload=payload, **more)

    NetBoxApiClient.request_bounded = other


def _documents(change):
    loads = _strict_json_loads

    def other(text, **more):
        document = loads(text, **more)
        change(document)
        return document

    globals()["_strict_json_loads"] = other
