"""Deletes messages between processes: they name ranked instances, and hold their texts."""

from manyclass.service.store.redis import scripts
from manyclass.service.store.redis.link import pairs
from manyclass.service.store.redis.session import Session

READING_SECONDS = 1.0  # in which a process that is alive reads and deletes its messages


def clear_mail(session: Session) -> None:
    """Delete the messages that are there now, once live processes have read theirs. StoreError.

    Only live processes have mailboxes: a heartbeat that finds one dead deletes its mailbox.
    """
    prefix = session.keys.mailbox_of("")
    newest = pairs(session.run(scripts.CLEAR_MAIL, prefix))
    if newest:
        session.closed.wait(READING_SECONDS)
        mailboxes = [session.keys.mailbox_of(process.decode()) for process in newest]
        session.run(scripts.CLEAR_MAIL, prefix, *newest.values(), more_keys=mailboxes)
