"""What can go wrong between us and a model.

ProviderError
├── permanent: trying again cannot help until somebody changes something
│   ├── NotConfigured      no key, no base URL, unknown kind
│   ├── Unauthorized       the key was refused
│   ├── ModelNotFound      the provider does not know this model
│   ├── WrongAddress       the server has nothing at this address
│   ├── BadRequest         the provider refused the request
│   │   ├── InputTooLong   more tokens than the model takes
│   │   └── NoTools        the model cannot call tools
│   └── EgressRefused      the address may not be called from here
└── transient: the same call may work later
    ├── Unreachable        no connection, or it broke
    ├── Silent             connected, but no content in time
    ├── RateLimited        too many calls (`retry_after` seconds when told)
    ├── Overloaded         5xx
    ├── ProtocolError      the reply is not what this kind of server sends
    ├── CutOff             the stream ended without a stop reason
    ├── CircuitOpen        it failed too often: nobody calls it for a while
    └── LimitReached       the tokens or the money of the day or month are used up
"""

from __future__ import annotations


class ProviderError(Exception):
    """`str()` is a sentence for the reader; `mend` tells an admin what to do."""

    code = "provider_error"
    permanent = False
    mend = "Try again; if it keeps failing, open the provider in the admin and test it."

    def __init__(
        self, message: str, *, retry_after: float | None = None, mend: str | None = None
    ) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        if mend is not None:
            self.mend = mend


class NotConfigured(ProviderError):
    code = "not_configured"
    permanent = True
    mend = "Set the provider's key or base URL in the environment or in the admin."


class Unauthorized(ProviderError):
    code = "unauthorized"
    permanent = True
    mend = "The provider refused the key: enter a valid one."


class ModelNotFound(ProviderError):
    code = "model_not_found"
    permanent = True
    mend = "The provider does not know this model: choose another, or correct its name."


class WrongAddress(ProviderError):
    code = "wrong_address"
    permanent = True
    mend = "The server has nothing at this address: correct the provider's base URL."


class BadRequest(ProviderError):
    code = "bad_request"
    permanent = True
    mend = "The provider refused the request: check the model's settings."


class InputTooLong(BadRequest):
    code = "input_too_long"
    mend = "Lower the number of passages, or set the model's real context window."


class NoTools(BadRequest):
    code = "no_tools"
    mend = "Choose a model that can call tools, or let it answer from one search."


class EgressRefused(ProviderError):
    code = "egress_refused"
    permanent = True
    mend = "Correct the provider's base URL."


class Unreachable(ProviderError):
    code = "unreachable"
    mend = "Check the base URL and that the server runs."


class Silent(ProviderError):
    code = "silent"
    mend = "The server accepts connections but sends nothing: check its load."


class RateLimited(ProviderError):
    code = "rate_limited"
    mend = "Wait, or raise the limit at the provider."


class Overloaded(ProviderError):
    code = "overloaded"
    mend = "The provider reports trouble of its own: try again later."


class ProtocolError(ProviderError):
    code = "protocol_error"
    mend = "Something other than a model server answered: check the base URL."


class CutOff(ProviderError):
    code = "cut_off"
    mend = "The connection ended in the middle of an answer: try again."


class CircuitOpen(ProviderError):
    """Nothing was sent. `retry_after` is the time until the provider is tried again."""

    code = "circuit_open"
    mend = "Wait or choose another model; “Test connection” in the admin tries it at once."


class LimitReached(ProviderError):
    """Nothing was sent. `retry_after` is the time until the limit begins anew."""

    code = "limit_reached"
    mend = (
        "Wait until then, choose the quotes without a model, which are never limited, or ask "
        "an admin to raise the limit."
    )
