"""App configuration."""

from __future__ import annotations

from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig


class SecondBrainConfig(AppConfig):
    name = "secondbrain"
    verbose_name = "SecondBrain"


class SecondBrainAdminConfig(AdminConfig):
    default_site = "secondbrain.admin_site.SecondBrainAdminSite"
