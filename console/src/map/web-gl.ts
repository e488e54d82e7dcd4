let probed: boolean | null = null;

/** Whether the browser can draw the map with its graphics hardware, or a substitute for it. */
export function hasWebGl(): boolean {
  probed ??= probe();
  return probed;
}

function probe(): boolean {
  try {
    const context = document.createElement('canvas').getContext('webgl2');
    // Browsers allow few contexts at a time, so that of the probe is given back.
    context?.getExtension('WEBGL_lose_context')?.loseContext();
    return context !== null;
  } catch {
    return false;
  }
}
