// What the scripts of the pages offer each other, for `make lint`: each script's own part is checked against it.
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

  interface Numbers {
    length(metres: number): string;
    number(value: number, places: number, least?: number): string;
    percent(share: number): string;
    rounded(value: number): string;
    roundedUp(value: number): string;
    withError(value: number, error: number): string;
  }

  interface SmoothSurface { values: Float64Array; noise: Float64Array; errors: Float64Array; widest: Float64Array }

  interface Surface {
    smooth(
      squares: Squares[], columns: Float64Array, rows: Float64Array, widths: [number, number], bounds?: Box,
    ): SmoothSurface;
    alone(place: [x: number, y: number], widths: [number, number], bounds?: Box): number;
    reach(shown: number, all: number, rate: number): number;
    threshold(surface: Pick<SmoothSurface, "values" | "errors">, rate: number): number;
    upperTail(z: number): number;
  }

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

  interface Difference {
    areaOf(maps: { region: Box; squares: Squares[] }[], frame: Box, area: Area): AreaChange;
    between(one: Told, other: Told): Told;
    changes(areas: Told[], rate: number): Change[];
    density(one: SmoothDensity, other: SmoothDensity, size: number, rate: number): ChangedDensity;
    least(ratios: ArrayLike<number>, rate: number): number;
    reach(shown: number, all: number, rate: number): number;
  }

  /** Colours of a change by its class, from the least on. */
  interface ChangePalette { more: string[]; fewer: string[] }
  type ChangePalettes = Record<"light" | "dark", ChangePalette>;

  interface ChangeColours {
    GROWTH: number[];
    WORDS: Record<Change, string>;
    colour(palettes: ChangePalettes, isDark: boolean, sureness: number, least: number): Colour | null;
  }

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
  type MakeView = (first: Chosen, allowed: Allowed) => View;
  /** choices: words that this map has to choose from, the usual one first. */
  type MakeMapView = (
    content: Pick<HeatContent, "palettes" | "width">, choices: Partial<Record<"layer" | "shows", string[]>>,
  ) => View;

  interface Colours {
    BANDS: [most: number, label: string][];
    bandShare(sureness: number): number;
    colour(colours: Colour[], share: number): Colour;
    fade(sureness: number, least: number): number;
    ramp(stops: string[], isDark: boolean): Colour[];
    share(value: number, range: [low: number, high: number], scale: Chosen["scale"]): number;
    shareOfBand(index: number): number;
  }

  interface Area { name: string; polygons: Corner[][][] }
  interface AreaSum { value: number; error: number; share: number; covered: number; filled: number }

  type Spot = { lat: number; lng: number };

  interface Areas {
    boxRing(corners: Corner[]): Corner[] | null;
    polygonRing(corners: Corner[]): Corner[] | null;
    holds(region: Box, area: { polygons: Corner[][][] }, point: Spot): boolean;
    read(text: string): Area[];
    sum(content: { region: Box; squares: Squares[] }, area: { polygons: Corner[][][] }): AreaSum;
    turn(region: Box, polygons: Corner[][][]): number;
  }

  /** What a map shows, as the fragment of an address says it. */
  interface LinkedView {
    lat: number;
    lon: number;
    zoom: number;
    chosen: Record<string, string | number>;
    areas: Area[];
  }
  interface Fragment {
    isView(text: string): boolean;
    read(text: string): LinkedView;
    write(view: LinkedView): string | null;
  }

  type Frame = Pick<HeatContent, "region" | "metres">;
  type MakeDensity = (content: Frame & Pick<HeatContent, "squares" | "rate" | "isBound" | "spots">, frame?: Frame) => Density;
  type Whereabouts = (places: Place[], point: Spot) => string;
  type Csv = (header: string[], rows: (string | number)[][]) => string;

  var hazemapNumbers: Numbers;
  var hazemapSurface: Surface;
  var hazemapDensity: MakeDensity;
  var hazemapView: MakeView;
  var hazemapMapView: MakeMapView;
  var hazemapColours: Colours;
  var hazemapAreas: Areas;
  var hazemapCsv: Csv;
  var hazemapFragment: Fragment;
  var hazemapWhereabouts: Whereabouts;
  var hazemapDifference: Difference;
  var hazemapChange: ChangeColours;

  // --- of a page ---

  interface Dom {
    addControl(map: Leaflet.Map, element: HTMLElement, position: Leaflet.ControlPosition): void;
    button(words: string, run: () => void): HTMLButtonElement;
    colourStrip(colours: Colour[], className?: string): HTMLCanvasElement;
    make<Name extends keyof HTMLElementTagNameMap>(
      name: Name, className?: string, words?: string,
    ): HTMLElementTagNameMap[Name];
  }

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

  interface Hazemap {
    linked: { view?: View; areas?: AreasOfReader };
    permalink(map: Leaflet.Map): void;
    basemap(map: Leaflet.Map, content: BasemapContent): NameLayer;
    border(map: Leaflet.Map, region: Box): Leaflet.Rectangle;
    fit(map: Leaflet.Map, bounds: Leaflet.LatLngBoundsLiteral): void;
    centres(map: Leaflet.Map, found: CentreContent[]): void;
    nameLayer(map: Leaflet.Map): NameLayer;
    placeList(input: HTMLInputElement, search: PlaceSearch): void;
    searchControl(map: Leaflet.Map, content: { region: Box; places: Place[] }): void;
    searched(address: string, text: string, region?: Box): Promise<FoundPlace[] | null>;
    goTo(map: Leaflet.Map, place: FoundPlace, region?: Box): string;
    whereabouts(map: Leaflet.Map, point: Spot): string;
    groundLayer(map: Leaflet.Map, load?: (bbox: string) => Promise<Land | null>): GroundLayer;
    point(map: Leaflet.Map, content: PointContent): void;
    rings(map: Leaflet.Map, content: RingContent): void;
    signs(map: Leaflet.Map, pane: string): { show(signs: Sign[]): void };
    textMarker(point: Leaflet.LatLngExpression, text: string, className: string, pane: string): Leaflet.Marker;

    fullScreen(map: Leaflet.Map): void;
    heat(map: Leaflet.Map, content: HeatContent): void;
    heatPicture(map: Leaflet.Map, region: Box, side: number, name: string): {
      pane: HTMLElement;
      draw(density: SmoothDensity, chosen: Chosen, colours: Colour[]): void;
      paint(opacity: number, colourAt: (pixel: number) => number[] | null): void;
    };
    heatLegend(map: Leaflet.Map, rate: number): {
      show(chosen: Chosen, density: SmoothDensity, colours: Colour[]): void;
    };
    readout(map: Leaflet.Map, linesAt: (place: Leaflet.LatLng) => HTMLElement[] | null): { refresh(): void };
    densityLines(density: SmoothDensity, pixel: number, where: string): HTMLElement[];
    densityWords(density: SmoothDensity, pixel: number): string;
    readoutLine(name: string, number: string): HTMLElement;
    layersPanel(
      map: Leaflet.Map, view: View, content: Pick<HeatContent, "palettes" | "width">, layers: [value: string, words: string][],
    ): void;
    sums(map: Leaflet.Map, measure: Measure, also: Leaflet.Map[]): AreasOfReader;
    peopleIn(content: HeatContent): Measure;
    districtFiles(add: (areas: Area[], title: string) => void, refuse: (error: unknown) => void): HTMLElement[];
    areaDrawing(map: Leaflet.Map, drawn: (kind: AreaKind, ring: Corner[]) => void): { buttons: HTMLButtonElement[] };
    sortableTable(
      caption: string, columns: Column[], sortedBy: [name: string, direction: Direction], remove?: (row: Row) => void,
    ): SortableTable;

    streets?(map: Leaflet.Map, names: NameLayer): { isLettered: boolean };
    streetStyle(element: HTMLElement): { ground: object[]; names: object[] };
    compare(map: Leaflet.Map, content: CompareContent): void;
    changeIn(content: CompareContent): Measure;
    changeLegend(map: Leaflet.Map, names: string[], rate: number, palettes: ChangePalettes): {
      hide(): void;
      show(difference: ChangedDensity, isDark: boolean): void;
    };
    changeLines(
      densities: [SmoothDensity, SmoothDensity, ChangedDensity], names: string[], pixel: number, where: string,
    ): HTMLElement[];
    compareViews(view: View): void;
    mapBeside(map: Leaflet.Map, content: CompareContent): { beside: Leaflet.Map; follow(isShown: boolean): void };
    swipe(map: Leaflet.Map, panes: HTMLElement[], names: string[]): { show(isShown: boolean): void };

    formMap(told: { shown(): void; found?(place: FoundPlace): string }): FormMap;
    regionPicker(form: HTMLFormElement, meaning?: string): Leaflet.Map;
    placePicker(form: HTMLFormElement): Leaflet.Map;
    drawGathered(map: Leaflet.Map, text: HTMLTextAreaElement, file: HTMLInputElement): void;
  }

  /** Of protomaps-leaflet, whose own types are of modules. */
  var protomapsL: any;
  /** Of the pages of the API. */
  var SwaggerUIBundle: ((options: object) => void) & { presets: { apis: unknown } };

  var hazemapDom: Dom;
  var hazemap: Hazemap;
}
