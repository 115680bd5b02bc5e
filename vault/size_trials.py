"""What was found when other sizes of passages were tried: what an owner hears before saving."""

from __future__ import annotations

from vault.core.passage_sizes import PassageSizes
from vault.models import SizeTrial, Vault
from vault.staleness import fingerprint

_TELLING = (*SizeTrial.OPEN, SizeTrial.State.DONE)


def trial_of(vault: Vault, sizes: PassageSizes) -> SizeTrial | None:
    """The newest trial of `sizes` against those that `vault` has, under the model that serves
    it, which is done or goes on; None where these were not tried."""
    now = vault.passage_sizes
    model = vault.embedding_model
    return SizeTrial.objects.filter(
        vault=vault,
        state__in=_TELLING,
        space=fingerprint(model) if model else "",
        before_tokens=now.tokens,
        before_overlap=now.overlap,
        before_minimum=now.minimum,
        after_tokens=sizes.tokens,
        after_overlap=sizes.overlap,
        after_minimum=sizes.minimum,
    ).first()


def has_trials_to_tidy() -> bool:
    """Whether a trial goes on, or copies of one are still there."""
    going_on = SizeTrial.objects.filter(state__in=SizeTrial.OPEN)
    return going_on.exists() or Vault.every.filter(state=Vault.State.TRIAL).exists()
