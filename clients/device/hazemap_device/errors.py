"""Refuses in short sentences that say what to do, and hold no place, secret or random number."""


class DeviceError(Exception):
    """Refuses with a `code` for programs and one sentence for people.

    Sentences are written here, in this package: nothing that a server or a person entered is repeated.
    """

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
