"""Pages of the prompt presets: the list, making and changing one, filling its gaps."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from chat.models import PromptPreset
from chat.preset_forms import FillForm, PresetForm
from chat.presets import own_preset, presets_for, question_from, usable_preset
from chat.views.reading import dialog, is_fragment, reader


@login_required
@require_GET
def presets(request: HttpRequest) -> HttpResponse:
    """What the reader may call, and which of it is theirs to change."""
    user = reader(request)
    context = {"presets": presets_for(user), "reader": user}
    return render(request, "chat/presets.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def new_preset(request: HttpRequest) -> HttpResponse:
    """Make one; `text` begins with a question that was typed elsewhere."""
    return _edit(request, PromptPreset(text=request.GET.get("text", "")), _("Preset saved."))


@login_required
@require_http_methods(["GET", "POST"])
def edit_preset(request: HttpRequest, preset_id: int) -> HttpResponse:
    return _edit(request, own_preset(reader(request), preset_id), _("Preset saved."))


@login_required
@require_http_methods(["GET", "POST"])
def delete_preset(request: HttpRequest, preset_id: int) -> HttpResponse:
    """Say what would be lost; delete it when that was confirmed."""
    preset = own_preset(reader(request), preset_id)
    if request.method == "POST":
        preset.delete()
        messages.success(request, _("The preset %(name)s was deleted.") % {"name": preset})
        return redirect("presets")
    return render(request, "chat/preset_delete.html", {"preset": preset, "base": "plain.html"})


@login_required
@require_http_methods(["GET", "POST"])
def fill_preset(request: HttpRequest, preset_id: int) -> HttpResponse:
    """Ask for the gaps of a preset, then bring the question to the field it is sent from.

    Scripts get the question as JSON, and the form as a dialog. `selection` is what is marked
    on the page.
    """
    preset = usable_preset(reader(request), preset_id)
    data = request.POST if request.method == "POST" else None
    form = FillForm(data, preset=preset)
    selection = request.POST.get("selection", request.GET.get("selection", ""))
    is_done = form.is_valid() if data is not None else not form.fields
    if is_done:
        values = form.values() if data is not None else {}
        text = question_from(preset, values, selection=selection)
        if is_fragment(request):
            return JsonResponse({"text": text})
        return redirect(f"{reverse('home')}?{urlencode({'text': text})}")
    context = {"preset": preset, "form": form, "selection": selection}
    status = 200 if data is None else 422
    return dialog(request, "chat/preset_fill.html", context, status=status)


def _edit(request: HttpRequest, preset: PromptPreset, saved: str) -> HttpResponse:
    form = PresetForm(request.POST or None, instance=preset, user=reader(request))
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, saved)
        return redirect("presets")
    context = {"form": form, "preset": preset}
    status = 422 if request.method == "POST" else 200
    return render(request, "chat/preset_form.html", context, status=status)
