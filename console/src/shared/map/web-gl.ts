let probed: boolean | null = null;

/** Whether the browser supports WebGL 2, in hardware or emulated in software. Determined once. */
export function hasWebGl(): boolean {
  probed ??= probe();
  return probed;
}

function probe(): boolean {
  try {
    const context = document.createElement('canvas').getContext('webgl2');
    // Browsers limit the number of contexts, so the probe releases its own.
    context?.getExtension('WEBGL_lose_context')?.loseContext();
    return context !== null;
  } catch {
    return false;
  }
}
