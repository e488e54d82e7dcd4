import type { Map as MapLibre } from 'maplibre-gl';

/**
 * Covers the map with a copy while the page is printed, because browsers print a WebGL canvas blank.
 * @returns a function that removes the copy and the event listeners
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
    // The canvas can be read only in the task that has drawn it.
    map.redraw();
    const drawn = map.getCanvas();
    copy = document.createElement('canvas');
    copy.width = drawn.width;
    copy.height = drawn.height;
    copy.className = 'absolute inset-0 size-full bg-bg object-contain';
    copy.getContext('2d')?.drawImage(drawn, 0, 0);
    // Some browsers print the canvas nevertheless.
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
