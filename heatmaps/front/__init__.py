"""Serves the web by waitress, with limits before anything of a request is kept.

waitress reads requests in one loop and hands whole ones to threads, so whoever sends slowly holds no thread.
What it leaves open is closed here, at the classes that it lets a server name:

| what | where |
| --- | --- |
| two lengths, folded headers, several hosts | `requests`: refused by 400, and the connection ends |
| the largest body, also in chunks | `requests`; each view has its own (`http.content_length.takes_up_to`) |
| whether a body is welcome: credentials, role, rate | `admission`: the program is asked before it comes |
| connections that idle, trickle or do not read | `connection`: each has its time |
| TLS, where no proxy ends it | `tls`, `certificate`: handshakes go on in the loop, and nobody waits for one |
| too many connections, of all and of one address | `server`: the one that idles longest makes room |
"""
