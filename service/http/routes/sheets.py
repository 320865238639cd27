"""POST /sheets: the rows of a workbook."""

from typing import ClassVar, Final

from manyclass.service.config.settings import Settings
from manyclass.service.http.auth import ApiKeys, Scope
from manyclass.service.http.call import Call, CallRequest
from manyclass.service.http.memory_budget import MemoryBudget
from manyclass.service.http.request_body import read_body, require_type
from manyclass.service.http.workbooks import Workbooks

MEDIA_TYPE: Final = "application/octet-stream"
PIECE: Final = 2**18  # bytes of an answer that are sent at once
MOST_BYTES: Final = 64 * 2**20  # of an answer


class ReadWorkbook(Call):
    """Reads one workbook."""

    path = "/sheets"
    title = "read_workbook"
    tag = "learn"
    scope = Scope.LEARN
    statuses = ()
    reads: ClassVar = {MEDIA_TYPE: []}
    writes: ClassVar = {"application/json": ["Sheets"]}

    def __init__(self, settings: Settings, keys: ApiKeys, budget: MemoryBudget) -> None:
        super().__init__(keys, budget)
        self._most_body = settings.max_body_bytes
        self._most_answer = min(MOST_BYTES, budget.limit // 4)
        self._workbooks = Workbooks()

    async def answer(self, request: CallRequest) -> list[bytes]:
        """Return the rows of a workbook of Excel (.xlsx, .xls) or LibreOffice (.ods), by which a
        program can teach them; this changes nothing. The console's page Import uses it.

        A cell is a text: a whole number has no point, a date is `2024-05-01`, a formula is its
        result as it was saved, and an error is empty. The rows begin with the first one, so that
        their numbers are those of the sheet. Workbooks are read one after another. One that is
        damaged, protected by a password, or too large when unpacked, gets 422 with the reason.
        """
        require_type(request.headers, MEDIA_TYPE)
        body = await read_body(
            request.headers, request.receive, self._most_body, request.reservation
        )
        answer = await self._workbooks.answer(body, self._most_answer, request.reservation)
        request.reservation.resize(len(answer))
        return [answer[at : at + PIECE] for at in range(0, len(answer), PIECE)]
