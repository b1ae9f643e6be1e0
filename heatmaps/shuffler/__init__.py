"""Enrols people, invites them, and takes, mixes and forgets what their devices send.

A role of its own, which another organisation may run than the analyser's: own process, settings, database and
keys; `docs/explanation/collections.md` has the protocol. It imports nothing of the product but the front
server, and nothing of the product imports it.

| what | where |
| --- | --- |
| the operator's commands, `manage.py shuffler …` | `management/commands` |
| what devices and browsers ask for | `views`, routed by `urls`, with the headers of `headers` |
| a round from its plan to its end | `life`: `planning`, `closing`, `forgetting`, in turn by `polling` |
| what is asked of the analyser, and whether its facts hold | `analyser`, `facts` |
| what is kept | `models` in the database; keys, secrets and tables in `files` of mode 600 |
"""
