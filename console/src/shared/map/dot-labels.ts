/** A dot on the map: its centre, and the name that may be written beside it. */
export interface Dot {
  readonly id: string;
  readonly name: string;
  readonly x: number;
  readonly y: number;
}

/** A name beside a dot. `x` and `y` are the centre of the text. */
export interface DotLabel {
  readonly id: string;
  readonly text: string;
  readonly x: number;
  readonly y: number;
}

/** Left, top, right and bottom. */
type Box = readonly [number, number, number, number];

/** The height of a label, its distance from the dot, and its greatest width. */
const LINE = 16;
const GAP = 2;
const WIDEST = 160;
/** No name of more characters fits, and shortening one of thousands would take long. */
const MAX_LETTERS = 80;

const overlap = (one: Box, other: Box): boolean =>
  one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3];

const around = (x: number, y: number, width: number, height: number): Box => [
  x - width / 2,
  y - height / 2,
  x + width / 2,
  y + height / 2,
];

/** Cuts off what is wider than a label may be. */
function shortened(name: string, widthOf: (text: string) => number): string {
  const letters = [...name].slice(0, MAX_LETTERS);
  if (letters.length === name.length && widthOf(name) <= WIDEST) return name;
  while (letters.length > 0 && widthOf(`${letters.join('')}…`) > WIDEST) letters.pop();
  return `${letters.join('').trimEnd()}…`;
}

/**
 * Places names below, above or beside their dots. A name that would cover a dot or another name, or leave the area, is
 * left out. @param dots the most important first @param area the width and height
 */
export function placeLabels(
  dots: readonly Dot[],
  radius: number,
  area: { readonly width: number; readonly height: number },
  widthOf: (text: string) => number,
): readonly DotLabel[] {
  const taken = dots.map(({ x, y }) => around(x, y, 2 * (radius + GAP), 2 * (radius + GAP)));
  return dots.flatMap(({ id, name, x, y }) => {
    const text = shortened(name, widthOf);
    const width = widthOf(text);
    const [down, aside] = [radius + GAP + LINE / 2, radius + GAP + width / 2];
    const places = [
      { x, y: y + down },
      { x, y: y - down },
      { x: x + aside, y },
      { x: x - aside, y },
    ];
    for (const place of places) {
      const box = around(place.x, place.y, width, LINE);
      const isInside = box[0] >= 0 && box[1] >= 0 && box[2] <= area.width && box[3] <= area.height;
      if (!isInside || taken.some((other) => overlap(box, other))) continue;
      taken.push(box);
      return [{ id, text, ...place }];
    }
    return [];
  });
}
