"""Puts arguments of schedule_sync to the producer's own serializer. Usage: producer_judge.py PRODUCER_ROOT < texts

One JSON string a line comes in, the text of one request body; one line a text goes out: `null` if it is refused, else what
the serializer makes of it. Of NetBox only the base class of choices is stubbed, and of the plugin the packages that would
import NetBox.
"""

import importlib.util
import io
import json
import sys
import types
from datetime import UTC
from pathlib import Path

import django
from django.conf import settings

settings.configure(USE_TZ=True, TIME_ZONE="UTC", USE_I18N=False, INSTALLED_APPS=["rest_framework"])
django.setup()

from rest_framework.exceptions import ParseError  # noqa: E402
from rest_framework.parsers import JSONParser  # noqa: E402

ROOT = Path(sys.argv[1]) / "netbox_proxbox"


class Iterable(type):
    """A class of choices is iterated for pairs of value and label."""

    def __iter__(cls):
        return iter([(choice[0], choice[1]) for choice in cls.CHOICES])


def module(name, **members):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__dict__.update(members)


def load(name, path):
    spec = importlib.util.spec_from_file_location(name, ROOT / path)
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[name] = loaded
    spec.loader.exec_module(loaded)
    return loaded


module("utilities")
module("utilities.choices", ChoiceSet=Iterable("ChoiceSet", (), {"CHOICES": []}))
for package in ("netbox_proxbox", "netbox_proxbox.api", "netbox_proxbox.api.serializers"):
    module(package, __path__=[])
load("netbox_proxbox.api.mcp_bridge", "api/mcp_bridge.py")
CHOICES = load("netbox_proxbox.choices", "choices.py")
SERIALIZERS = load("netbox_proxbox.api.serializers.resource_views", "api/serializers/resource_views.py")


def minutes(recurrence):
    ((unit, value),) = recurrence.items()
    return CHOICES.ScheduleIntervalUnitChoices.to_minutes(value, unit)


def answer(text):
    try:
        body = JSONParser().parse(io.BytesIO(text.encode("utf-8")), None, {"encoding": "utf-8"})
    except (ParseError, UnicodeError):
        return None
    # The view hands over what is no object too; the serializer says so.
    serializer = SERIALIZERS.ScheduleSyncRequestSerializer(data=body)
    try:
        if not serializer.is_valid():
            return None
    except TypeError:
        return None if not isinstance(body, dict) else "raised"
    stored = serializer.validated_data
    schedule = stored["schedule_at"]
    return {
        "sync_types": list(stored["sync_types"]),
        "job_name": stored["job_name"] or None,
        "schedule_at": schedule and schedule.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f").rjust(26, "0"),
        "interval": minutes(stored["recurrence"]) if "recurrence" in stored else None,
        "proxmox_endpoint_ids": stored["proxmox_endpoint_ids"] or None,
    }


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))))
