"""The table of docs/settings.md."""

from manyclass.core.learners.reference import fill, table
from manyclass.service.config.settings import TABLE


def with_settings(page: str) -> str:
    """Return the page with the table of all settings."""
    rows = []
    for row in TABLE:
        default = f"`{row.shown_default}`" if row.shown_default else ""
        help = row.help + (" *(model)*" if row.is_of_model else "")
        rows.append([f"`{row.variable}`", f"`{row.flag}`", default, help])
    return fill(page, {"settings": table(["variable", "flag", "default", "meaning"], rows)})
