/** The longer side of a picture that is sent, in pixels. */
const MAX_SIDE = 2_000;

/** Five pictures of this size fit into one call, which may have 10 MB in base64. */
const MAX_BYTES = 1_400_000;

/** Tried one after the other until the file is small enough. */
const QUALITIES = [0.85, 0.7, 0.5, 0.3] as const;

/**
 * Makes a JPEG of at most 2,000 pixels per side of a picture, turned as it was taken. What the camera wrote into the file,
 * such as the position, is not in it.
 * @throws Error when the browser cannot read the file as a picture
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
