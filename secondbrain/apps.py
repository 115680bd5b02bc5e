"""App configuration."""

from __future__ import annotations

from django.apps import AppConfig


class SecondBrainConfig(AppConfig):
    name = "secondbrain"
    verbose_name = "SecondBrain"
