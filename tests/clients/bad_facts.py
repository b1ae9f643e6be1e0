"""Facts that no client may take: one list, which the tests of both read."""

import base64

from tests.clients.rounds import ALONE, Round, axes, flips, gkrr, offsets, rows, shares, unary, written

_P = 2**255 - 19
SMALL_ORDER = [
    1, _P - 1, _P, _P + 1, 1 << 255,
    325606250916557431795983626356110631294008115727848805560023387167927233504,
    39382357235489614581723060781553021112529911719440698176882885853963445705823,
]  # fmt: skip
CHANGES = {
    "kind": ["hazemap", 1],
    "version": [0, 2, True, "1"],
    "round": ["x", "12345678-1234-1234-1234-12345678901", "{12345678-1234-1234-1234-123456789012}"],
    "collection": ["", "a b", 3],
    "number": [0, -1, "1"],
    "region": [
        ["16", "48", "17"], ["17", "48", "16", "49"], ["16", "48", "16.00001", "49"],
        ["nan", "48", "17", "49"],
        ["16", "48", "181", "49"], [16, 48, 17, 49], ["0x10", "48", "17", "49"], [" 16", "48", "17", "49"],
    ],
    "mechanism": ["<b>"],
    "trust": ["central", ""],
    "encoding": [{}, [], {"kind": "unary"}, {"kind": "none"}],
    "table_sha256": ["00", "AA" * 32, "zz" * 32],
    "messages": [0, -5, 1, 2**53 - 1, 65_537],
    "message_bytes": [0, 2, 65],
    "reports_per_person": [0, 10**6 + 1],
    "invitations": [-1],
    "invitations_sha256": [""],
    "open_link": [0, "true"],
    "least_honest": [0, 8],
    "dishonest_share": ["1", "0.2", "-0.1", ".1", 0],
    "least_reports": [9, 11],
    "opens_at": [-1, 2**52],
    "closes_at": [0, 253_402_300_800, 2**53 - 1],
    "analyser": [{"operator": "x", "url": "https://a.example"}, "https://a.example"],
    "loss": [{"epsilon": "1"}, {"epsilon": "x", "delta": "0", "radius_m": "1", "record_epsilon": "inf"},
             {"epsilon": "1", "delta": "inf", "radius_m": "1", "record_epsilon": "inf"}],
    "loss_alone": [None, {"epsilon": "1"}, {**ALONE, "delta": "inf"}, {**ALONE, "radius_m": "601"}],
    "page_sha384": ["x"],
}  # fmt: skip
URLS = [
    "http://maps.example", "ftp://maps.example", "//maps.example", "https://", "https://user:word@maps.example",
    "https://maps.example/?a", "https://maps.example/#a", "https://maps.example\n", "javascript:1",
    "http://127.0.0.1.example", "http://localhost:99999999", "https://mäps.example",
]  # fmt: skip
KEYS = [
    "", "AAAA", base64.urlsafe_b64encode(bytes(32)).decode().rstrip("="),  # a point of small order
    base64.urlsafe_b64encode(bytes(range(32))).decode(), "A" * 42 + "B", "A" * 42 + "/",
] + [
    base64.urlsafe_b64encode(u.to_bytes(32, "little")).decode().rstrip("=") for u in SMALL_ORDER
]  # fmt: skip
OF_UNARY = [
    {"places": 51}, {"domain": 39, "places": 51}, {"padding": 0, "places": 40}, {"number_bytes": 0},
    {"domains": [40]}, {"domains": [40, 0]}, {"cell_um": 0}, {"cell_um": 1.5}, {"extra": 1},
]  # fmt: skip
OF_SHARES = [
    {"modulus": 2**30 + 1}, {"modulus": 2**33}, {"levels": [1, 3]}, {"scales": ["1"]}, {"shares": 1},
    {"scales": ["0", "1"]}, {"scales": ["1.5e3", "1"]}, {"cluster_entries": [2]}, {"levels": []},
]  # fmt: skip
OF_OTHERS = [
    (flips, {"flips": [0, 0]}), (flips, {"flips": [2**31, 1]}), (flips, {"flips": [1]}),
    (gkrr, {"far": 0}), (gkrr, {"near": "1152921504606846978"}), (gkrr, {"districts": 5}),
    (gkrr, {"own": 2**40}),
    (axes, {"columns": 2**11}), (axes, {"across": {"uniform": 0, "total": 8000}}),
    (offsets, {"uniform": 0}), (offsets, {"columns": 2**13}), (offsets, {"total": "40120"}),
    (rows, {"columns": 129}),
]  # fmt: skip


def all_of_them():
    """(what is wrong, text) of each."""
    for key, values in CHANGES.items():
        for value in values:
            yield f"{key}: {value!r}", written({**Round().facts, key: value})
    yield "loss_alone of a local one", written(Round(axes(), changes={"loss_alone": ALONE}).facts)
    one = Round().facts
    one["shuffler"]["operator"] = "CITY"
    yield "loss_alone of one operator", written(one)
    yield "loss_alone of an open link", written({**Round(open_link=True).facts, "loss_alone": ALONE})
    for role, name, values in (("analyser", "url", URLS), ("shuffler", "key", KEYS)):
        for value in values:
            facts = Round().facts
            facts[role][name] = value
            yield f"{role} {name}: {value!r}", written(facts)
    of_kinds = [(unary, one) for one in OF_UNARY] + [(shares, one) for one in OF_SHARES] + OF_OTHERS
    for kind, change in of_kinds:
        encoding, *rest = kind()
        yield f"{kind.__name__}: {change}", Round(({**encoding, **change}, *rest)).content
    made = Round()
    made.facts["shuffler"]["key"] = made.facts["analyser"]["key"]
    yield "equal keys", made.content
    yield "trust of a local kind", written({**Round(gkrr()).facts, "trust": "shuffle"})
    yield "trust of a shuffled kind", written({**Round().facts, "trust": "local"})
