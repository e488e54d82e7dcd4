/** Maximum length of the longer side of a picture, in pixels. */
const MAX_SIDE = 2_000;

/** Target size of a picture, in bytes: five of them in base64 fit into one request of at most 10 MB. */
const MAX_BYTES = 1_400_000;

/** JPEG qualities, tried in order until the file is small enough. */
const QUALITIES = [0.85, 0.7, 0.5, 0.3] as const;

/**
 * Converts a picture to a JPEG of at most 2,000 pixels per side, with its orientation applied. Metadata that the camera
 * wrote into the file, such as the position, is removed.
 * @throws Error if the browser cannot read the file as a picture
 */
export async function scaleDown(file: Blob): Promise<Blob> {
  const picture = await createImageBitmap(file);
  try {
    const scale = Math.min(1, MAX_SIDE / Math.max(picture.width, picture.height));
    const canvas = document.createElement('canvas');
    canvas.width = Math.max(1, Math.round(picture.width * scale));
    canvas.height = Math.max(1, Math.round(picture.height * scale));
    const context = canvas.getContext('2d');
    if (!context) throw new Error('The browser cannot draw');
    // A JPEG has no transparency.
    context.fillStyle = 'white';
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(picture, 0, 0, canvas.width, canvas.height);
    let smallest: Blob | null = null;
    for (const quality of QUALITIES) {
      smallest = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/jpeg', quality));
      if (smallest && smallest.size <= MAX_BYTES) break;
    }
    if (!smallest) throw new Error('The browser cannot make a JPEG');
    return smallest;
  } finally {
    picture.close();
  }
}

/** A file as a `data:` URL. */
export function dataUrlOf(file: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error ?? new Error('The file cannot be read'));
    reader.readAsDataURL(file);
  });
}
