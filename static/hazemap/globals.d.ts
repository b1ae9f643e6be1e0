// Types of the data that modules of the pages share, and of the scripts of others, for `make lint`.
import type * as Leaflet from "leaflet";

declare global {
  /** West, south, east, north in degrees. */
  type Box = [west: number, south: number, east: number, north: number];
  /** Longitude and latitude in degrees, as in GeoJSON. */
  type Corner = [lon: number, lat: number];
  type Colour = [red: number, green: number, blue: number];

  /** Released squares of one level: x from west, y from north. */
  interface Squares { level: number; x: number[]; y: number[]; values: number[]; deviations: number[] }

  /** What heatmaps/maps/heat.py prepares. */
  interface HeatContent {
    region: Box;
    metres: [across: number, up: number];
    squares: Squares[];
    width: number;
    rate: number;
    isBound: boolean;
    spots: number[] | null;
    palettes: Record<string, string[]>;
  }

  // --- pure: they run in node too ---

  interface SmoothSurface { values: Float64Array; noise: Float64Array; errors: Float64Array; widest: Float64Array }

  /** By the pixel: people per km², and how far that is from none in standard errors. */
  interface SmoothDensity {
    width: number;
    least: number;
    total: number; // people, of the whole map
    range: [low: number, high: number] | null;
    reach: number;
    isBound: boolean;
    value(pixel: number): number;
    error(pixel: number): number;
    widest(pixel: number): number;
    sureness(pixel: number): number;
    isClear(pixel: number): boolean;
    limit(pixel: number): number | null;
  }

  type Change = "more" | "fewer" | "none";
  interface Told { value: number; error: number }

  /** By the pixel: how many more people per km² the other map has, and how sure that is, with its sign. */
  interface ChangedDensity {
    width: number;
    least: number;
    reach: number;
    value(pixel: number): number;
    error(pixel: number): number;
    sureness(pixel: number): number;
    change(pixel: number): Change;
  }

  interface AreaChange extends Told { one: AreaSum; other: AreaSum; covered: number; filled: number }

  /** Colours of a change by its class, from the least on. */
  interface ChangePalette { more: string[]; fewer: string[] }
  type ChangePalettes = Record<"light" | "dark", ChangePalette>;

  interface Density {
    side: number;
    pixelAt(place: { lat: number; lng: number }): number | null;
    smoothed(width: number): SmoothDensity;
  }

  /** What a reader chose of a map. */
  interface Chosen {
    shows?: "swipe" | "beside" | "difference";
    layer: "heat" | "cells" | "sure";
    palette: string;
    scale: "log" | "linear";
    width: number;
    opacity: number;
  }

  type Changed = (names: (keyof Chosen)[]) => void;
  /** By name: the words there are, or the least and the largest number. */
  interface Allowed { words: Record<string, string[]>; numbers: Record<string, [least: number, largest: number]> }
  interface View {
    allowed: Allowed;
    allows(changes: Record<string, string | number>): boolean;
    chosen(): Chosen;
    set(changes: Partial<Chosen>): void;
    onChange(listener: Changed): void;
  }

  interface Area { name: string; polygons: Corner[][][] }
  interface AreaSum { value: number; error: number; share: number; covered: number; filled: number }

  type Spot = { lat: number; lng: number };

  /** What a map shows, as the fragment of an address says it. */
  interface LinkedView {
    lat: number;
    lon: number;
    zoom: number;
    chosen: Record<string, string | number>;
    areas: Area[];
  }

  type Frame = Pick<HeatContent, "region" | "metres">;

  // --- of a page ---

  interface Place { lat: number; lon: number; name: string }
  interface Country extends Place { width: number } // degrees
  /** A place as a search finds it: heatmaps/views/places.py; without `extent` one of the map's own names. */
  interface FoundPlace extends Place { inside: boolean; area?: string; also?: string; extent?: Box }
  /** What a search is made of, and what it does. */
  interface PlaceSearch {
    find(text: string): Promise<FoundPlace[] | null>;
    choose(place: FoundPlace): string;
    status?: HTMLElement;
  }
  type Pixels = [left: number, top: number, right: number, bottom: number];

  /** Outlines of heatmaps/maps/ground: a first point and the steps from there, in `unit`s from `origin`. */
  interface Outlines {
    origin: [west: number, south: number];
    unit: number;
    sea: number[][];
    lakes: number[][];
    borders: number[][];
    countries: Country[];
    attribution: string;
  }
  type Land = (Outlines & { missing?: undefined }) | { missing: string; countries?: undefined };

  interface GroundLayer { show(land: Land): void; follow(view: Box): Promise<void> }
  interface NameLayer {
    declutter(): void;
    onToggle(run: (visible: boolean) => void): void;
    leaveOut(rule: (place: Place) => boolean): void;
    show(places: Place[]): void;
    showCountries(countries: Country[]): void;
    addButton(on: boolean): void;
  }

  /** What heatmaps/maps/streets prepares; `mvt`: vector tiles. */
  type StreetLayer = { address: string; attribution: string } & (
    | { kind: "mvt" | "raster"; bounds: Box; zooms: [coarsest: number, finest: number] }
    | { kind: "tiles" | "missing"; bounds?: undefined; zooms?: undefined }
  );

  interface BasemapContent { region: Box | null; places: Place[]; attribution: string; ground?: Land }
  interface PointContent { lat: number; lon: number; circle: Leaflet.LatLngTuple[]; meaning: string }
  interface CentreContent { lat: number; lon: number; text: string }
  interface Ring {
    corners: Leaflet.LatLngTuple[];
    key: string;
    text: string;
    middle: Leaflet.LatLngTuple;
    name: string;
    told: string;
    weight: number;
  }
  interface RingContent { rings: Ring[]; meaning: string }
  interface Sign { point: Leaflet.LatLng; text: string; short: string; className: "centre-name" | "zone-name" }

  /** A row is whatever its columns read. */
  type Row = Record<string, any>;
  interface Column { name: string; title: string; words(row: Row): string }
  type Direction = 1 | -1;
  interface SortableTable { element: HTMLTableElement; rows(): Row[]; show(rows: Row[]): void }

  type AreaKind = "Box" | "Polygon";
  /** What is told of areas: the numbers of one (`of`), those that depend on all (`settle`), and their words. */
  interface Measure {
    title: string;
    caption: string;
    columns: Column[];
    sortedBy: [name: string, direction: Direction];
    tablePlace?: HTMLElement | null;
    region: Box;
    of(area: Area): Row & { covered: number; filled: number };
    size(area: Row): number;
    settle(areas: Row[]): void;
    told(area: Row): string;
    words(area: Row): string;
    csvHead: string[];
    csvRow(area: Row): (string | number)[];
  }

  /** What heatmaps/maps/comparison.py prepares. */
  interface CompareContent extends Omit<HeatContent, "squares"> {
    maps: HeatContent[];
    names: [one: string, other: string];
    change: ChangePalettes;
    basemap: BasemapContent;
  }

  interface FormMap { map: Leaflet.Map; bounds: Box | undefined; ground: HTMLElement; news: HTMLElement }

  interface DistrictFile { title: string; source: string; licence: string; address: string }
  interface AreasOfReader { all(): Area[]; linesAt(point: Leaflet.LatLng): HTMLElement[]; replace(areas: Area[]): void }

  /** What heatmaps/maps/document.py prepares: a function of the map's scripts, and what it draws. */
  interface MapDrawing { function: string; content: any }
  interface MapData { centre: [lat: number, lon: number]; drawings: MapDrawing[] }
  interface CellsContent { png: string; bounds: Leaflet.LatLngBoundsLiteral; isDark: boolean }

  /** Of protomaps-leaflet, whose own types are of modules. */
  var protomapsL: any;
  /** Of the pages of the API. */
  var SwaggerUIBundle: ((options: object) => void) & { presets: { apis: unknown } };
}
