"""Lists where the synthetic city's people live, work and go out: public geography only.

The coast, the centre and the names are those of Barcelona and its neighbours, roughly, so that the offline
map's place names fit below the heat. Weights and spreads are made up.
"""

from dataclasses import dataclass
from typing import Final

from mechanisms.space.grid import Region

REGION: Final = Region(2.05, 41.30, 2.30, 41.50)

# West to east: longitude and latitude of the shore; what lies south of it is sea.
COAST: Final = (
    (2.05, 41.270),
    (2.10, 41.285),
    (2.14, 41.318),
    (2.165, 41.355),
    (2.20, 41.384),
    (2.235, 41.411),
    (2.30, 41.464),
)


@dataclass(frozen=True, slots=True)
class Cluster:
    """Describes a cluster: its middle in degrees, the standard deviation in metres, its relative weight."""

    lat: float
    lon: float
    spread_m: float
    weight: float


@dataclass(frozen=True, slots=True)
class Avenue:
    """Describes a straight street between two points (lat, lon) in degrees, and its relative weight."""

    start: tuple[float, float]
    end: tuple[float, float]
    weight: float


HOMES: Final = (
    Cluster(41.392, 2.165, 800, 22),  # Eixample
    Cluster(41.405, 2.158, 450, 14),  # Gràcia
    Cluster(41.376, 2.136, 550, 11),  # Sants
    Cluster(41.435, 2.189, 650, 10),  # Sant Andreu
    Cluster(41.443, 2.174, 700, 9),  # Nou Barris
    Cluster(41.403, 2.203, 500, 10),  # Poblenou
    Cluster(41.382, 2.176, 350, 9),  # Ciutat Vella
    Cluster(41.402, 2.121, 700, 6),  # Sarrià
    Cluster(41.450, 2.243, 850, 8),  # Badalona
    Cluster(41.361, 2.103, 800, 11),  # L'Hospitalet
    Cluster(41.472, 2.085, 900, 5),  # Sant Cugat
)
WORK: Final = (
    Cluster(41.387, 2.170, 450, 32),  # the centre
    Cluster(41.394, 2.146, 500, 22),  # offices along the Diagonal
    Cluster(41.404, 2.193, 450, 18),  # the former factories of Poblenou
    Cluster(41.343, 2.134, 700, 12),  # the harbour's industry
    Cluster(41.386, 2.115, 350, 9),  # the university
    Cluster(41.428, 2.143, 250, 7),  # the hospital
)
LEISURE: Final = (
    Cluster(41.387, 2.170, 350, 25),  # shops of the centre
    Cluster(41.379, 2.190, 250, 14),  # the beach
    Cluster(41.396, 2.209, 300, 8),  # further beaches
    Cluster(41.4036, 2.1744, 120, 12),  # the basilica
    Cluster(41.4145, 2.1527, 150, 8),  # the park on the hill
    Cluster(41.364, 2.158, 400, 9),  # the castle hill
    Cluster(41.381, 2.123, 200, 9),  # the stadium
    Cluster(41.402, 2.157, 300, 15),  # squares of Gràcia
)
NIGHT: Final = (
    Cluster(41.385, 2.183, 200, 40),  # the old town's bars
    Cluster(41.379, 2.168, 220, 25),  # the Raval
    Cluster(41.387, 2.198, 180, 20),  # clubs by the harbour
    Cluster(41.397, 2.191, 150, 15),  # warehouses
)
AWAY: Final = (
    Cluster(41.297, 2.083, 400, 60),  # the airport
    Cluster(41.593, 1.837, 500, 15),  # the mountain monastery
    Cluster(41.118, 1.245, 800, 15),  # Tarragona
    Cluster(41.983, 2.824, 800, 10),  # Girona
)
AVENUES: Final = (
    Avenue((41.384, 2.112), (41.411, 2.218), 40),  # Diagonal
    Avenue((41.363, 2.125), (41.407, 2.193), 30),  # Gran Via
    Avenue((41.396, 2.183), (41.437, 2.191), 20),  # Meridiana
    Avenue((41.387, 2.170), (41.376, 2.178), 10),  # Rambla
)
