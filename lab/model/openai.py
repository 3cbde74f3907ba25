"""What OpenAI's two APIs, Chat Completions and Responses, have in common."""

from __future__ import annotations

from lab.model.dialect import Refusal, refusal

ERRORS = {
    400: ("invalid_request_error", None),
    401: ("invalid_request_error", "invalid_api_key"),
    403: ("invalid_request_error", "unsupported_country_region_territory"),
    404: ("invalid_request_error", "model_not_found"),
    429: ("requests", "rate_limit_exceeded"),
}


class OpenAI:
    def refuse(self, status: int, message: str, retry_after: float | None) -> Refusal:
        kind, code = ERRORS.get(status, ("server_error", None))
        return refusal(status, {"error": {"message": message, "type": kind, "param": None, "code": code}}, retry_after)
