

# Appended to the SDK's bridge module by the mutation test: ways to change one rule of it. Each mutant calls one of these.
def _mutate_keyword(name, change):
    """One keyword of payload schemas is evaluated by change(evaluate, validator, value, instance, schema)."""
    global _BridgeDraft202012Validator
    evaluate = _BridgeDraft202012Validator.VALIDATORS[name]

    def changed(validator, value, instance, schema):
        yield from change(evaluate, validator, value, instance, schema) or ()

    _BridgeDraft202012Validator = validators.extend(_BridgeDraft202012Validator, {name: changed})


def _mutate_ignore(*names):
    """These keywords of payload schemas mean nothing."""
    for name in names:
        _mutate_keyword(name, lambda evaluate, validator, value, instance, schema: ())


def _mutate_bound(name, bound, by):
    """One bound of payload schemas is off."""

    def change(evaluate, validator, value, instance, schema):
        return evaluate(validator, value + by if value == bound else value, instance, schema)

    _mutate_keyword(name, change)


def _mutate_type(name, rule):
    """What counts as a type in payloads is rule(was, value)."""
    global _BridgeDraft202012Validator
    was = _BridgeDraft202012Validator.TYPE_CHECKER
    checker = was.redefine(name, lambda _, value: rule(lambda value: was.is_type(value, name), value))
    _BridgeDraft202012Validator = validators.extend(_BridgeDraft202012Validator, type_checker=checker)


def _mutate_dates(rule):
    """What counts as a date-time is rule(was, text)."""
    was = _is_rfc3339_date_time
    changed = lambda value: rule(was, value) if isinstance(value, str) else True
    _BRIDGE_FORMAT_CHECKER.checks("date-time")(changed)


def _mutate_manifest(change):
    """What change(manifest) makes good before it is looked at, is not looked at any more."""
    import copy

    was = PluginManifest.model_validate

    def model_validate(cls, value, *rest, **more):
        value = copy.deepcopy(value)
        try:
            change(value)
        except (AttributeError, IndexError, KeyError, TypeError):
            pass
        return was(value, *rest, **more)

    PluginManifest.model_validate = classmethod(model_validate)


def _mutate_tools(change):
    """The same for each tool of a manifest."""

    def all_tools(manifest):
        for tool in manifest["tools"]:
            try:
                change(tool)
            except (AttributeError, IndexError, KeyError, TypeError):
                pass

    _mutate_manifest(all_tools)


def _mutate_schemas(change):
    """The same for every schema in a manifest, nested ones first."""

    def walk(schema):
        for nested in [*schema.get("properties", {}).values(), schema.get("items"), schema.get("additionalProperties")]:
            if isinstance(nested, dict):
                walk(nested)
        change(schema)

    def both(tool):
        walk(tool["inputSchema"])
        if isinstance(tool.get("outputSchema"), dict):
            walk(tool["outputSchema"])

    _mutate_tools(both)


def _mutate_payload(change):
    """Payloads are judged as change(payload) leaves a copy of them."""
    global _validate_instance
    import copy

    was = _validate_instance

    def changed(instance, schema, *, label):
        instance = copy.deepcopy(instance)
        try:
            changed_instance = change(instance)
        except (AttributeError, IndexError, KeyError, TypeError):
            changed_instance = instance
        was(changed_instance, schema, label=label)

    _validate_instance = changed


def _mutate_outcome(name, change):
    """One of the two functions is change(was, tool, payload)."""
    was = globals()[name]
    globals()[name] = lambda tool, payload: change(was, tool, payload)
