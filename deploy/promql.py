"""Expressions of PromQL over the metrics of the selected processes."""

RATE = "[$__rate_interval]"
SHARES = (0.5, 0.9, 0.99)
SELECTED = 'job="$job", instance=~"$instance"'


def series(name, **labels):
    """Return the series of a metric of the service, for the selected processes.

    A label's value is compared as it is, or as a regular expression when it begins with "~".
    """
    chosen = [
        f'{label}=~"{value[1:]}"' if value[0] == "~" else f'{label}="{value}"'
        for label, value in labels.items()
    ]
    return f"manyclass_{name}{{{', '.join([*chosen, SELECTED])}}}"


def own(name):
    """Return the series of a metric of the process or target, not named by the service."""
    return f"{name}{{{SELECTED}}}"


def per_second(name, **labels):
    return f"rate({series(name, **labels)}{RATE})"


def total(name, by="", **labels):
    """Return the rate of a counter over all processes, for each value of the labels `by`."""
    return f"sum{f' by ({by}) ' if by else ''}({per_second(name, **labels)})"


def requests(**given):
    return total("request_duration_seconds_count", **given)


def by(label, name, **labels):
    """Return the rate of a counter as legend -> expression for each value of the label."""
    return {f"{{{{{label}}}}}": total(name, by=label, **labels)}


def largest(name, **labels):
    """Return the maximum of a metric over the processes."""
    return f"max({series(name, **labels)})"


def of_each_process(name):
    return {"{{instance}}": series(name)}


def mean(name):
    return f"{total(f'{name}_sum')} / {total(f'{name}_count')}"


def quantile(share, name, by="le", **labels):
    return f"histogram_quantile({share}, {total(f'{name}_bucket', by=by, **labels)})"


def quantiles(name, **labels):
    return {f"p{share * 100:g}": quantile(share, name, **labels) for share in SHARES}


def of_the_examples(name, **labels):
    """Return the rate of `name` per learned event, for the primary learner."""
    examples = total("progressive_examples_total", role="primary")
    return f"{total(name, **labels, role='primary')} / {examples}"


def of_each_target(measure):
    """Return a measure of the primary learner by target, as legend -> expression."""
    found = series(measure, role="primary")
    return {"{{target}}": f"max by (target) ({found})"}


def of_each_learner(name, **labels):
    """Return the rate of `name` per learned event, as legend -> expression for each learner."""
    examples = total("progressive_examples_total", by="learner")
    return {"{{learner}}": f"{total(name, by='learner', **labels)} / {examples}"}
