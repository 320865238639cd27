"""Settings of all tests that Hypothesis draws examples for."""

from hypothesis import HealthCheck, settings

# No test asserts a time: under load an example takes many times as long as alone.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
