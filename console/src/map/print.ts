import type { Map as MapLibre } from 'maplibre-gl';

/**
 * Covers the map with a copy of it while the page is printed, because browsers print the canvas of WebGL empty.
 * @returns removes the copy, and makes no more
 */
export function makePrintable(map: MapLibre): () => void {
  let copy: HTMLCanvasElement | null = null;
  const uncover = () => {
    copy?.remove();
    copy = null;
    map.getCanvas().style.removeProperty('visibility');
  };
  const cover = () => {
    uncover();
    // The canvas can be read in the task that has drawn it, and not later.
    map.redraw();
    const drawn = map.getCanvas();
    copy = document.createElement('canvas');
    copy.width = drawn.width;
    copy.height = drawn.height;
    copy.className = 'absolute inset-0 size-full bg-bg object-contain';
    copy.getContext('2d')?.drawImage(drawn, 0, 0);
    // Some browsers print it nevertheless.
    drawn.style.visibility = 'hidden';
    map.getContainer().append(copy);
  };
  window.addEventListener('beforeprint', cover);
  window.addEventListener('afterprint', uncover);
  return () => {
    window.removeEventListener('beforeprint', cover);
    window.removeEventListener('afterprint', uncover);
    uncover();
  };
}
