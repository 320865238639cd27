"""The page of the documentation that lists every setting, docs/settings.md."""

from manyclass.service.config.settings import TABLE

_HEAD = """\
# Settings

Each setting is a variable of the environment and a flag of `manyclass serve`; the flag wins.
`manyclass config` prints the settings in force. A variable that begins with `MANYCLASS_` and is not
in this table is an error.

Settings marked *model* are stored with the model. A start with other values is refused, with the
differences and the stored specification, unless `--reconfigure` is given. Settings that are not
given keep their stored values: without `MANYCLASS_LEARNER` the stored learner goes on with its
options, without `MANYCLASS_SHADOWS` the stored shadows do. Once something was learned, only a
promotion changes the learner that answers.

`MANYCLASS_LEARNER` is a specification: the name of a learner, with the options that differ from its
defaults in parentheses, as in `pa(replay=4,rivals=3)`. [Learners](learners.md#options) lists the
options. A learner that is named has the defaults of all options that its specification omits,
whatever is stored. Each shadow in `MANYCLASS_SHADOWS` is a specification too. The limits
`MANYCLASS_MAX_FEATURES`, `MANYCLASS_MAX_CLASSES` and `MANYCLASS_MAX_BYTES` hold for each learner by
itself, shadows included. Without them a learner keeps its stored limits, and a new shadow has those
of the learner that answers.

An option given by a variable or flag of its own, such as `MANYCLASS_RATING=0` of an older release,
is refused with the specification to write instead: `MANYCLASS_LEARNER='svm(rating=0)'`.

The prefix is part of each name. A start with `RANK_KEYS`, `LEARN_KEYS` or `ADMIN_KEYS` in the
environment is refused, because the service would be open. Of the other names without the prefix, a
start warns if they have several words (`MAX_BYTES`), and of `STORE`, `LEARNER` and `SHADOWS`. Other
single words, such as `PORT` or `HOST`, are ignored, since other programs use them.

| variable | flag | default | meaning |
| --- | --- | --- | --- |
"""


def markdown() -> str:
    """Return the whole page."""
    lines = []
    for row in TABLE:
        default = f"`{row.shown_default}`" if row.shown_default else ""
        help = row.help + (" *(model)*" if row.is_of_model else "")
        lines.append(f"| `{row.variable}` | `{row.flag}` | {default} | {help} |\n")
    return _HEAD + "".join(lines)
