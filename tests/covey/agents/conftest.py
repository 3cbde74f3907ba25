"""Property tests of the adapters have no deadline: a busy machine is no defect."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("adapters", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("adapters")
