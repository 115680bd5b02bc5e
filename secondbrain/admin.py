"""Accounts in the admin: an account is an e-mail address."""

from __future__ import annotations

from typing import Any

from allauth.account.models import EmailAddress
from django import forms
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import AdminUserCreationForm, UserChangeForm
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _


class AccountCreationForm(AdminUserCreationForm[User]):
    """Asks for the e-mail address only; the user name Django wants is the same."""

    class Meta:
        model = User
        fields = ("email",)

    email = forms.EmailField(label=_("E-mail address"))

    def clean_email(self) -> str:
        email = str(self.cleaned_data["email"]).lower()
        if User.objects.filter(email__iexact=email).exists():
            raise ValidationError(_("There is an account with this address already."))
        return email

    def save(self, commit: bool = True) -> User:  # noqa: FBT001, FBT002 (Django's signature)
        self.instance.username = self.cleaned_data["email"]
        user: User = super().save(commit=commit)
        return user


class AccountChangeForm(UserChangeForm[User]):
    """An account keeps an address, and one of its own."""

    email = forms.EmailField(label=_("E-mail address"))

    def clean_email(self) -> str:
        email = str(self.cleaned_data["email"]).lower()
        others = User.objects.filter(email__iexact=email).exclude(pk=self.instance.pk)
        if others.exists():
            raise ValidationError(_("There is an account with this address already."))
        return email


class AccountAdmin(UserAdmin[User]):
    form = AccountChangeForm
    add_form = AccountCreationForm
    add_fieldsets = ((None, {"fields": ("email", "usable_password", "password1", "password2")}),)
    fieldsets = (
        (None, {"fields": ("email", "password")}),
        (_("Name"), {"fields": ("first_name", "last_name")}),
        (_("Rights in the admin"), {"fields": ("is_active", "is_staff", "is_superuser", "groups")}),
        (_("Dates"), {"fields": ("last_login", "date_joined")}),
    )
    list_display = ("email", "first_name", "last_name", "is_active", "is_staff", "last_login")
    search_fields = ("email", "first_name", "last_name")
    ordering = ("email",)
    readonly_fields = ("last_login", "date_joined")

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:  # noqa: FBT001
        """Keep the three places that hold an address equal: sign-in reads the third."""
        obj.username = obj.email
        super().save_model(request, obj, form, change)
        EmailAddress.objects.filter(user=obj).exclude(email=obj.email).delete()
        EmailAddress.objects.get_or_create(
            user=obj, email=obj.email, defaults={"primary": True, "verified": True}
        )


admin.site.unregister(User)
admin.site.register(User, AccountAdmin)
