"""Options: declared once, read from specifications, refused with a correction."""

import ast
import copy
import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from manyclass.core.errors import OptionError
from manyclass.core.learner import Learner
from manyclass.core.learners.options import Options
from manyclass.core.learners.registry import DEFAULT_LEARNER, LEARNERS, OPTIONS

NEEDED = {"committee": "members=ff"}


def least_of(learner):
    """Return the shortest specification of the learner."""
    return f"{learner}({NEEDED[learner]})" if learner in NEEDED else learner


def declared():
    return [(name, option) for name, learner in LEARNERS.items() for option in learner.options]


@pytest.mark.parametrize(
    ("learner", "option"), declared(), ids=lambda each: getattr(each, "name", each)
)
def test_every_default_is_a_value_that_reads_back(learner, option):
    assert option.check(option.default) == option.default
    assert option.read(option.write(option.default)) == option.default
    assert type(option.neutral) is type(option.default)
    assert option.neutral == OPTIONS[option.name].neutral


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_option_can_be_read_of_every_learner(learner):
    options = Options.parse(least_of(learner))
    for name, option in OPTIONS.items():
        own = LEARNERS[learner].option(name)
        if name not in NEEDED.get(learner, ""):
            assert getattr(options, name) == (own.default if own else option.neutral)
    assert options.to_dict().keys() == {
        "learner",
        *(each.name for each in LEARNERS[learner].options),
    }
    with pytest.raises(AttributeError, match="nothing"):
        options.nothing  # noqa: B018


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_specification_reads_back(learner):
    options = Options.parse(least_of(learner), max_classes=9)
    for text in (options.full_specification, repr(options)[15:-2]):
        assert Options.parse(text) == options
    assert Options.parse(options.specification) == options.replace(max_classes=1_000_000)
    assert Options.from_dict(options.to_dict()) == options
    for same in (pickle.loads(pickle.dumps(options)), copy.deepcopy(options), replace(options)):
        assert (same, hash(same)) == (options, hash(options))


def test_the_members_of_a_committee_are_parsed_once():
    options = Options.of("committee", members="svm+pa")
    assert options.member_options is options.member_options
    assert replace(options, members="svm+arow").member_options[1].learner == "arow"


def test_members_read_back_from_a_log():
    for members in ("svm", "svm(budget=16,C=2)+ff", "svm(budget=8)+svm(fast)", "pa(replay=4)+ff"):
        committee = Options.of("committee", members=members)
        assert Options.from_dict(committee.to_dict()) == committee
        assert Options.parse(committee.specification) == committee


def test_options_without_a_learner_or_with_unknown_names_are_refused():
    with pytest.raises(KeyError):
        Options.from_dict({"rating": 3})
    for name in ("values", "learners", "rivals"):
        with pytest.raises(OptionError, match=f"{name}: is not an option"):
            Options.from_dict({"learner": "pa", name: 3})


def test_a_preset_names_several_options():
    assert Options.parse("svm(fast)") == Options.of("svm", replay=0)
    assert Options.parse("svm(fast, C=2)").specification == "svm(C=2,replay=0)"
    assert Options.parse("svm(fast, replay=1)") == Options.of("svm", replay=1)
    assert (
        Options.parse("svm(best)").specification == "svm(replay=8,replay_size=100000,neighbors=20)"
    )
    assert Options.of("committee", members="svm(fast)+ff").members == "svm(replay=0)+ff"


@pytest.mark.parametrize(
    ("specification", "message"),
    [
        ("svm(C=0)", r"C: must be in \[1e-9, 1e9\]"),
        ("svm(C_negative=0)", r"C_negative: must be in \[1e-9, 1e9\]"),
        ("ff(min_weight=1)", r"min_weight: must be in \[0, 1\)"),
        ("ff(mass_cap=0.5)", r"mass_cap: must be in \[1, inf\), or 0 \(infinite\)"),
        ("ff(mass_cap=inf)", r"mass_cap: must be in \[1, inf\), or 0 \(infinite\)"),
        ("ff(margin_threshold=nan)", r"margin_threshold: must be in \[-1e9, 1e9\]"),
        ("ooz(margin_threshold=0)", r"margin_threshold: must be in \(0, 1e9\]"),
        ("ema(rate=2)", r"rate: must be in \(0, 1\]"),
        ("iplt(rate=101)", r"rate: must be in \(0, 100\]"),
        ("pa(replay=-1)", r"replay: must be in \[0, 1000\], or 0 \(off\)"),
        ("pa(seed=9223372036854775808)", r"seed: must be in \[0, 9223372036854775807\]"),
        ("ff(normalize=l1)", "normalize: must be one of l2, none"),
        ("pa(rating=x)", "rating: must be a whole number, not 'x'"),
        ("ff(leak=maybe)", "leak: must be yes or no, not 'maybe'"),
        ("svm(leak=no)", "leak: has no effect on learner 'svm', only on ff"),
        ("svm(replya=4)", r"replya: .* did you mean `replay`\?"),
        ("svm(rivals=1)", r"rivals: is not an option of a learner"),
        ("svm(C=1,C=2)", "each option once"),
        ("svm(qqq=1)", "known are margin_threshold, max_outdegree"),
        ("smv", r"did you mean `svm`\?"),
        ("pa(rating=0", "no closing parenthesis"),
        ("svm(fats)", "'fats' must be option=value, or the preset fast or best"),
        ("ff(fast)", "'fast' must be option=value$"),
        ("svm(C=2,fast)", "'fast' must be option=value, each option once"),
        ("svm(,replay=4)", r"nothing before or after it: svm\(replay=4\)$"),
        ("svm(fast,)", r"nothing before or after it: svm\(fast\)$"),
        ("svm(C=2, ,replay=4)", r"nothing before or after it: svm\(C=2, replay=4\)$"),
        ("svm(,)", "nothing before or after it: svm$"),
        ("committee(members=ff+svm(fast,))", r"nothing before or after it: svm\(fast\)$"),
        ("committee(members=svm(fats)+ff)", "members: .*'fats' must be"),
        ("committee", r"members: must name the members of a committee, as in ff\+pa\(replay=4\)"),
        *(
            (f"committee(members={members})", "members: must name")
            for members in ("", "+", "ff+", "+ff", "ff++pa", " + ")
        ),
        ("committee(members=committee(members=ff))", "cannot be a member of another"),
        ("ff(members=pa)", "members: has no effect on learner 'ff', only on committee"),
    ],
)
def test_a_bad_option_is_refused_with_what_to_write(specification, message):
    with pytest.raises(OptionError, match=message):
        Options.parse(specification)


def test_equal_options_have_equal_specifications():
    one, other = (Options.of("committee", members=text) for text in ("ff + pa", "ff+pa"))
    assert one == other
    assert one.specification == "committee(members=ff+pa)"
    assert Options(margin_threshold=-0.0).specification == "ff(margin_threshold=0)"


def test_options_cannot_be_changed():
    options = Options.of(DEFAULT_LEARNER)
    with pytest.raises(AttributeError):
        options.rating = 3
    assert options.replace(rating=3).rating == replace(options, rating=3).rating == 3
    assert options.rating == 0


def test_options_that_a_learner_lacks_may_be_given_with_their_neutral_value():
    assert Options.of("pa", leak=True, mass_cap=30) == Options.of("pa")


class Recorder:
    """Options that record which of them are read."""

    def __init__(self, options):
        self.options, self.read = options, set()

    def __getattr__(self, name):
        self.read.add(name)
        return getattr(self.options, name)


@pytest.mark.parametrize("learner", [name for name in LEARNERS if name not in NEEDED])
def test_the_native_code_reads_every_option_that_is_declared(learner):
    options = Recorder(Options.of(learner))
    Learner(options)
    assert {option.name for option in LEARNERS[learner].options} <= options.read
    assert options.read - {"learner", "member_options"} <= set(OPTIONS)


ADVICE = "evaluation/advice.py"  # the candidates of the advisor
EXAMPLES = {
    f"service/http/openapi/{name}.py"
    for name in ("example_call", "example_calls", "example_changes")
}


def test_no_module_outside_of_the_learners_names_one():
    root = Path(__file__).parents[3]
    files = [
        file
        for folder in ("core", "service", "client", "cli", "training", "evaluation")
        for file in root.joinpath(folder).rglob("*.py")
        if not file.is_relative_to(root / "core" / "learners")
    ]
    naming = set()
    names = LEARNERS.keys() - {"path"}  # the name of other things too
    for file in files:
        constants = [
            each for each in ast.walk(ast.parse(file.read_text())) if isinstance(each, ast.Constant)
        ]
        if any(isinstance(each.value, str) and each.value in names for each in constants):
            naming.add(str(file.relative_to(root)))
    assert naming == {*EXAMPLES, ADVICE}
