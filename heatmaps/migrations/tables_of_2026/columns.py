"""Kinds of columns and constraints that several tables have."""

import uuid

from django.conf import settings
from django.core.validators import MinValueValidator
from django.db import migrations, models
from django.db.models import PROTECT

USER = settings.AUTH_USER_MODEL
ROLES = [("steward", "Steward"), ("analyst", "Analyst"), ("auditor", "Auditor")]


class KeyField(models.BigAutoField):
    """A running number; on SQLite one without its list of the highest numbers ever given.

    That list would be written again with each row: a third of what an insert takes.
    """

    def db_type_suffix(self, connection):
        return None if connection.vendor == "sqlite" else super().db_type_suffix(connection)

    def deconstruct(self):
        """To the model it is the number that every table has."""
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.BigAutoField", args, kwargs


def table(name, fields, **options):
    """With a running number as its primary key, unless it has another one."""
    if not any(getattr(field, "primary_key", False) for field in fields.values()):
        number = models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")
        fields = {"id": number} | fields
    return migrations.CreateModel(name, list(fields.items()), options)


def random_name():
    return models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)


def key(to, related_name="+", on_delete=PROTECT, **options):
    return models.ForeignKey(to, on_delete, related_name=related_name, **options)


def optional_key(to, related_name="+"):
    return key(to, related_name, null=True, blank=True)


def extends(to, related_name, on_delete=PROTECT):
    return models.OneToOneField(to, on_delete, related_name=related_name, primary_key=True, serialize=False)


def chosen(default, *choices):
    return models.CharField(choices=choices, default=default, max_length=16)


def one(name, *fields, **options):
    return models.UniqueConstraint(fields=fields, name=name, **options)


def check(name, condition):
    return models.CheckConstraint(condition=condition, name=name)


def index(name, *fields, **options):
    return models.Index(fields=fields, name=name, **options)


def moment():
    return models.DateTimeField(null=True, blank=True)


def made():
    return models.DateTimeField(auto_now_add=True)


def digest(**options):
    return models.CharField(max_length=64, **options)


def count(default=0):
    return models.BigIntegerField(default=default)


def at_least_one(field):
    return field(null=True, blank=True, validators=[MinValueValidator(1)])
