"""GET /settings: every setting in force, and where its value comes from."""

from manyclass.service.config.settings import TABLE
from manyclass.service.http.auth import Scope
from manyclass.service.http.routes.contract import TheEngine, needs, router_of
from manyclass.service.http.schemas.settings import SettingInForce, SettingList

router = router_of("stats")


@router.get("/settings", **needs(Scope.ADMIN))
async def list_settings(engine: TheEngine) -> SettingList:
    """Return every setting in force with the source of its value: the command line, the
    environment, or the default.

    `manyclass config` prints the same before a start. Keys are counted, not shown.
    """
    settings, model = engine.settings, engine.model
    values = settings.shown(model)
    return SettingList(
        settings={
            row.variable: SettingInForce(
                option=row.flag,
                value=values[row.variable],
                source=settings.source(row, model.text),
                default=row.shown_default,
                help=row.help,
            )
            for row in TABLE
        }
    )
