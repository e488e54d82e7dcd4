// The areas of an image that are made unrecognisable: how they are drawn, moved and undone, and the copy without them.

/** A rectangle, in shares of the width and the height of the image, from 0 to 1. */
export interface Area {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** The smallest side of an area, as a share: a click without a movement draws nothing that nobody could see. */
export const MIN_SIDE = 0.01;

const within = (value: number, max: number): number => Math.min(Math.max(value, 0), max);

/** The area between two points, whichever comes first, cut off at the edges of the image. */
export function areaBetween(
  one: { readonly x: number; readonly y: number },
  other: { readonly x: number; readonly y: number },
): Area {
  const [left, right] = [one.x, other.x].map((each) => within(each, 1)).sort((a, b) => a - b);
  const [top, bottom] = [one.y, other.y].map((each) => within(each, 1)).sort((a, b) => a - b);
  const [x = 0, y = 0] = [left, top];
  return { x, y, width: (right ?? 0) - x, height: (bottom ?? 0) - y };
}

/** The area moved, and made larger or smaller, so that it stays within the image and does not vanish. */
export function changed(area: Area, by: Partial<Area>): Area {
  const width = Math.min(Math.max(area.width + (by.width ?? 0), MIN_SIDE), 1);
  const height = Math.min(Math.max(area.height + (by.height ?? 0), MIN_SIDE), 1);
  return {
    x: within(area.x + (by.x ?? 0), 1 - width),
    y: within(area.y + (by.y ?? 0), 1 - height),
    width,
    height,
  };
}

/** The pixels that an area covers, of an image of some size: every pixel that it touches. */
export function pixelsOf(
  { x, y, width, height }: Area,
  size: { readonly width: number; readonly height: number },
): { readonly x: number; readonly y: number; readonly width: number; readonly height: number } {
  const [left, top] = [Math.floor(x * size.width), Math.floor(y * size.height)];
  return {
    x: left,
    y: top,
    width: Math.min(size.width, Math.ceil((x + width) * size.width)) - left,
    height: Math.min(size.height, Math.ceil((y + height) * size.height)) - top,
  };
}

/** JPEG qualities, tried in order until the copy is small enough. */
const QUALITIES = [0.95, 0.85, 0.7] as const;
/** Maximum size of a copy, in bytes: in base64 it fits into a request. */
const MAX_BYTES = 5_000_000;

/**
 * A copy of an image in which the pixels of the areas are black. It is encoded anew from its pixels alone, so that
 * nothing is left of what was under the areas, and none of what the camera wrote into the file besides the pixels.
 * @throws Error if the browser cannot read or write the image
 */
export async function redacted(original: Blob, areas: readonly Area[]): Promise<Blob> {
  const image = await createImageBitmap(original);
  try {
    const canvas = document.createElement('canvas');
    canvas.width = image.width;
    canvas.height = image.height;
    const context = canvas.getContext('2d', { alpha: false });
    if (!context) throw new Error('The browser cannot draw');
    context.drawImage(image, 0, 0);
    context.fillStyle = 'black';
    for (const area of areas) {
      const { x, y, width, height } = pixelsOf(area, image);
      context.fillRect(x, y, width, height);
    }
    let copy: Blob | null = null;
    for (const quality of QUALITIES) {
      copy = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/jpeg', quality));
      if (copy && copy.size <= MAX_BYTES) return copy;
    }
    throw new Error(copy ? 'The copy is larger than 5 MB' : 'The browser cannot make a JPEG');
  } finally {
    image.close();
  }
}
