"""What people ask about: GeoJSON, and a zone and a place whose name no page may read as HTML."""

NAME = "</script><b>=Old & new"
RING = [[0.1, 0.1], [0.6, 0.1], [0.6, 0.6], [0.1, 0.6], [0.1, 0.1]]
SPOT = [0.25, 0.5]


def feature(name, geometry):
    return {"type": "Feature", "properties": {"name": name}, "geometry": geometry}


def collection(features):
    return {"type": "FeatureCollection", "features": list(features)}


def zone(name=NAME, ring=RING):
    return feature(name, {"type": "Polygon", "coordinates": [ring]})


def place(name=NAME, spot=SPOT):
    return feature(name, {"type": "Point", "coordinates": spot})


def square(west, south, side=0.3):
    return box(west, south, west + side, south + side)


def box(west, south, east, north):
    ring = [[west, south], [east, south], [east, north], [west, north], [west, south]]
    return {"type": "Polygon", "coordinates": [ring]}


def districts(**named):
    return collection(feature(name, geometry) for name, geometry in named.items())
