import type { Map as MapLibre } from 'maplibre-gl';
import { copyForPrint } from '../../ui/print-copy.ts';

/**
 * Replaces the map with a copy while the page is printed, because browsers print a WebGL canvas blank.
 * @returns a function that removes the copy and the event listeners
 */
export function makePrintable(map: MapLibre): () => void {
  const drawing = map.getCanvas();
  return copyForPrint({
    drawing,
    container: map.getContainer(),
    look: 'absolute inset-0 size-full object-contain object-left',
    draw() {
      // The canvas can be read only in the task that has drawn it.
      map.redraw();
      const copy = document.createElement('canvas');
      copy.width = drawing.width;
      copy.height = drawing.height;
      copy.getContext('2d')?.drawImage(drawing, 0, 0);
      return copy;
    },
  });
}
