import pytest
from typer.testing import CliRunner

from manyclass.cli.environment import without_settings
from manyclass.cli.ephemeral_service import ephemeral_service
from manyclass.cli.main import app


@pytest.fixture(scope="session")
def service():
    """Yield the URL of a real service; each test uses its own classes."""
    with ephemeral_service(without_settings()) as url:
        yield url


@pytest.fixture
def manyclass(monkeypatch):
    """Return a function that runs a command, which has to end with the given exit code, if any."""
    for variable in ("MANYCLASS_URL", "MANYCLASS_KEY", "MANYCLASS_EMBED_KEY"):
        monkeypatch.delenv(variable, raising=False)

    def call(*arguments, exit_code=0, **options):
        result = CliRunner().invoke(app, [str(each) for each in arguments], **options)
        assert not result.exception or isinstance(result.exception, SystemExit), result.exception
        assert exit_code in (None, result.exit_code), result.output
        return result

    return call


@pytest.fixture
def nobody():
    """Return a URL without a service."""
    return "http://127.0.0.1:9"
