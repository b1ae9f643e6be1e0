// Two released maps compared: joined with all that it imports, the script of their page.
import { fit } from "./basemap.js";
import { compare } from "./compare.js";
import { drawMap } from "./map_drawing.js";
import { permalink } from "./permalink.js";

drawMap({ compare, fit, permalink });
