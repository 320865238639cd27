"""The ensemble: a committee of other learners, and the division of its bytes among them."""

from typing import TYPE_CHECKING

from manyclass.core.errors import OptionError
from manyclass.core.learners.common import LIMITS, SEED
from manyclass.core.learners.spec import LearnerSpec, Option
from manyclass.core.learners.specification import parts, split

if TYPE_CHECKING:
    from manyclass.core.learners.options import Options

MOST_MEMBERS = 64

MEMBERS = Option("members", "", "", "Specifications of the members, joined by +.", is_nested=True)
VOTE = Option(
    "vote",
    "majority",
    "majority | rarest | score | probability",
    "How one ranking is made of several.",
)


def members_of(options: "Options") -> "tuple[Options, ...]":
    """Return the options of each member of a committee, in order; empty for other learners.

    A member inherits the committee's limits. Without a seed of its own, the member at position n
    has the committee's seed + n.
    """
    limits = {option.name: getattr(options, option.name) for option in LIMITS}
    members = []
    for position, specification in enumerate(split(options.members, "+")):
        try:
            seed = (options.seed + position) % 2**63
            member = options.parse(specification, seed=seed, **limits)
        except OptionError as error:
            raise OptionError("members", str(error)) from error
        if member.members:
            raise OptionError("members", "a committee cannot be a member of another")
        members.append(member)
    return tuple(members)


def byte_shares(options: "Options") -> int:
    """Return the number of equal shares into which a committee's bytes are divided.

    The table of classes, each member and each shuffle buffer has one.
    """
    members = options.member_options
    return 1 + len(members) + sum(bool(member.shuffle) for member in members)


def _check(options: "Options") -> None:
    if not all(parts(options.members, "+")):
        message = "must name the members of a committee, as in ff+pa(replay=4)"
        raise OptionError("members", message)
    members = options.member_options
    if len(members) > MOST_MEMBERS:
        raise OptionError("members", f"must be {MOST_MEMBERS} at most")
    if options.vote == "probability" and not all(each.spec.is_probabilistic for each in members):
        message = "can be 'probability' only where every member is a label tree"
        raise OptionError("vote", message)
    least = byte_shares(options)
    if options.max_bytes < least * 2**20:
        raise OptionError(
            "max_bytes", f"must be 1 MiB for each of the {least} parts of a committee"
        )


LEARNERS = (
    LearnerSpec(
        "committee",
        "other learners | as its members do | *Flat Techniques*, section 2.3",
        (SEED, MEMBERS, VOTE, *LIMITS),
        check=_check,
    ),
)
