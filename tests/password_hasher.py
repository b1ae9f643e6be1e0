"""Hashes passwords of tests at once, in places as the product's hasher does."""

from django.contrib.auth.hashers import MD5PasswordHasher

from heatmaps.http.password_places import Placed


class QuickHasher(Placed, MD5PasswordHasher):
    pass
