from tests.evaluation.conftest import speed_is_measured_shortly  # noqa: F401  a fixture
