"""Drives the SDK's client through scenarios. Started by its path: python -I -S -B THIS, with driver.py beside it.

Which requests a scenario sends is seen by the servers it is sent to. What is answered here is how each call ended, as facts: whoever
asked knows what they mean. Scenarios run side by side on threads, each with a client, an event loop and a server of its own.
"""

import asyncio
import os
import queue
import sys
import threading
import time
from importlib.util import module_from_spec, spec_from_file_location
from json import dumps, loads


def driver():
    """The module that answers questions, from the file beside this one."""
    spec = spec_from_file_location("driver", os.path.dirname(os.path.abspath(__file__)) + "/driver.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def imported(place):
    module, _, name = place.partition(":")
    __import__(module)
    return getattr(sys.modules[module], name)


async def call(scenario, parts, facts):
    """One call of a tool, step by step as the SDK's own tool layer makes it. `facts` says how far it got."""
    config = parts["config"](
        base_url=scenario["server"],
        token_key=scenario["key"],
        token_secret=scenario["secret"],
        timeout=scenario["timeout"],
    )
    client = parts["client"](config)
    try:
        facts["step"] = "discovery"
        catalog = await parts["discover"](client, plugin=scenario["plugin"])
        facts["step"] = "tool"
        tool = catalog.find_tool(scenario["plugin"], scenario["tool"])
        facts["step"] = "arguments"
        arguments = loads(scenario["arguments"])
        parts["check_arguments"](tool, arguments)
        path = parts["request_path"](scenario["plugin"], tool)
        facts["step"] = "dispatch"
        reads = tool.effect == "read"
        response = await client.request_bounded(
            tool.method,
            path,
            max_response_bytes=scenario["longest"],
            query=parts["query"](arguments) if reads else {},
            payload=None if reads else arguments,
        )
        facts.update(step="response", status=response.status, text=response.text[:4096])
        if 200 <= response.status < 300 and response.status not in (204, 205):
            parts["check_response"](tool, parts["read_response"](response.text))
            facts["step"] = "accepted"
    finally:
        await client.close()


class Clock:
    """Seconds in which this process could run: where it is kept from that, by a machine that is busy or stopped, they do not pass."""

    TICK = 0.05

    def __init__(self):
        self.now = 0.0
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            time.sleep(self.TICK)
            self.now += self.TICK


async def bounded(scenario, parts, facts, clock, patience):
    task = asyncio.ensure_future(call(scenario, parts, facts))
    begun, done = clock.now, ()
    while not done and clock.now < begun + patience:
        done, _ = await asyncio.wait({task}, timeout=0.5)
    if not done:
        task.cancel()
        return "hung"
    error = task.exception()
    if error is None:
        return "returned"
    facts.update(raised=type(error).__name__[:100], told=str(error)[:300])
    return "rejected" if isinstance(error, parts["rejection"]) else "raised"


def run(scenario, parts, facts, clock, patience):
    try:
        ended = asyncio.run(bounded(scenario, parts, facts, clock, patience))
    except BaseException as error:
        facts.update(raised=type(error).__name__[:100], told=str(error)[:300])
        ended = "raised"
    # Last: from here on the facts are complete.
    facts["ended"] = ended


def scenarios(asked):
    try:
        parts = {name: imported(place) for name, place in asked["parts"].items()}
    except BaseException as error:
        return {"failed": f"{type(error).__name__}: {error}"[:500]}
    facts, patience = [{} for _ in asked["scenarios"]], asked["patience"]
    work, clock = queue.SimpleQueue(), Clock()

    def one(index):
        run(asked["scenarios"][index], parts, facts[index], clock, patience)

    def several():
        while True:
            try:
                index = work.get_nowait()
            except queue.Empty:
                return
            one(index)

    # Who waits for a server that says nothing takes no core, and gives up soon: these get a head start, so that on a busy machine, too,
    # they come to where they wait. The others go a few at a time.
    threading.stack_size(1 << 20)
    threads = []
    for index, scenario in enumerate(asked["scenarios"]):
        if scenario["waits"]:
            threads.append(threading.Thread(target=one, args=(index,), daemon=True))
            threads[-1].start()
        else:
            work.put(index)
    time.sleep(asked["head_start"])
    for _ in range(asked["at_a_time"]):
        threads.append(threading.Thread(target=several, daemon=True))
        threads[-1].start()
    # As long as calls end, there is patience: a busy machine is no hanging client.
    ended, since = 0, clock.now
    while any(thread.is_alive() for thread in threads) and clock.now < since + 2 * patience:
        waited_for = next((thread for thread in threads if thread.is_alive()), threads[0])
        waited_for.join(0.05)
        now = sum("ended" in fact for fact in facts)
        if now > ended:
            ended, since = now, clock.now
    return {"outcomes": [dict(fact) if "ended" in fact else {"ended": "hung"} for fact in facts]}


def server(asked):
    """Becomes the SDK's own server, which from then on has this process's descriptors to itself. It never returns if that succeeds."""
    try:
        home = os.environ["HOME"] = os.environ["HOME"] + f"-{asked['descriptors'][0]}"
        os.mkdir(home)
        for name, text in asked["home"].items():
            os.makedirs(os.path.dirname(os.path.join(home, name)), exist_ok=True)
            with open(os.path.join(home, name), "w") as file:
                file.write(text)
        os.environ.update(asked["variables"])
        run = imported(asked["run"])
        origin = sys.modules[asked["run"].partition(":")[0]].__file__
    except BaseException as error:
        return {"failed": f"{type(error).__name__}: {error}"[:500]}
    questions, answers = asked["descriptors"]
    os.write(answers, dumps({"nonce": asked["nonce"], "origin": str(origin)}).encode("ascii") + b"\n")
    for descriptor, standard in ((questions, 0), (answers, 1)):
        os.dup2(descriptor, standard)
        os.close(descriptor)
    try:
        run(asked["arguments"])
    finally:
        os._exit(0)


if __name__ == "__main__":
    driver().serve({"scenarios": scenarios, "server": server})
