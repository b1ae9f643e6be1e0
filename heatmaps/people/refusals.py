"""Defines refusals of acts on people; nothing was written."""

# ruff: noqa: N818 - domain words; `except RolesMoved` says what happened

from typing import ClassVar


class MemberError(Exception):
    """Refuses, and says why."""

    code: ClassVar[str] = "member_error"


class RolesMoved(MemberError):
    code = "roles_moved"

    def __init__(self) -> None:
        super().__init__("this person's roles changed at this very moment; try again")
