"""Addresses of the retrieval app."""

from __future__ import annotations

from django.urls import URLPattern, path

from retrieval import evaluation_views, lab_views, size_views, views
from retrieval.api import SearchView

urlpatterns: list[URLPattern] = [
    path("search", views.search, name="search"),
    path("search/why", views.why, name="search-why"),
    path("lab", lab_views.lab, name="lab"),
    path("lab/evaluation/", evaluation_views.evaluations, name="evaluations"),
    path("lab/evaluation/<slug:slug>/", evaluation_views.evaluation, name="evaluation"),
    path("lab/evaluation/<slug:slug>/start", evaluation_views.start, name="evaluation-start"),
    path(
        "lab/evaluation/<slug:slug>/golden-questions.md",
        evaluation_views.markdown,
        name="evaluation-markdown",
    ),
    path("lab/evaluation/<slug:slug>/questions", evaluation_views.add, name="evaluation-add"),
    path(
        "lab/evaluation/<slug:slug>/questions/<int:question_id>/remove",
        evaluation_views.remove,
        name="evaluation-remove",
    ),
    path(
        "lab/evaluation/<slug:slug>/runs/<int:run_id>", evaluation_views.run, name="evaluation-run"
    ),
    path(
        "lab/evaluation/<slug:slug>/runs/<int:run_id>/state",
        evaluation_views.state,
        name="evaluation-state",
    ),
    path(
        "lab/evaluation/<slug:slug>/runs/<int:run_id>/cancel",
        evaluation_views.cancel,
        name="evaluation-cancel",
    ),
    path("lab/evaluation/<slug:slug>/sizes", size_views.sizes, name="sizes"),
    path("lab/evaluation/<slug:slug>/sizes/<int:trial_id>", size_views.trial, name="size-trial"),
    path(
        "lab/evaluation/<slug:slug>/sizes/<int:trial_id>/state",
        size_views.state,
        name="size-trial-state",
    ),
    path(
        "lab/evaluation/<slug:slug>/sizes/<int:trial_id>/stop",
        size_views.stop,
        name="size-trial-stop",
    ),
    path("api/search", SearchView.as_view(), name="api-search"),
]
