import { parentPort } from 'node:worker_threads';
import { getDocument, OPS } from 'pdfjs-dist/legacy/build/pdf.mjs';

// A thread that reads PDFs for report-reading.ts. The build of pdf.js for Node 20 brings polyfills, and replaces JSON.parse
// and Array.prototype.push by slower ones: in a worker of vitest they would serve all later tests, and the service in them.

/** The text of a page. */
const textOf = async (page) => {
  const { items } = await page.getTextContent();
  return items.map((item) => ('str' in item ? item.str : '')).join(' ');
};

/** The texts drawn on a page, in the order of the drawing operations, with their places, sizes and widths in points. */
const drawnOf = async (page) => {
  const { fnArray, argsArray } = await page.getOperatorList();
  const drawn = [];
  let [at, size] = [{ x: 0, y: 0 }, 0];
  fnArray.forEach((order, n) => {
    const args = argsArray[n];
    if (order === OPS.setTextMatrix) {
      const [x, y] = [...(args.length === 6 ? args : args[0])].slice(4);
      at = { x, y };
    }
    if (order === OPS.setFont) size = args[1];
    if (order !== OPS.showText) return;
    const glyphs = args[0].filter((glyph) => typeof glyph === 'object' && glyph !== null);
    const width = glyphs.reduce((sum, glyph) => sum + glyph.width, 0);
    const text = glyphs.map((glyph) => glyph.unicode).join('');
    drawn.push({ ...at, size, width: (width * size) / 1000, text });
  });
  return drawn;
};

/** The element for assistive technology of a page, and how many texts are drawn outside of any marked content. */
const structureOf = async (page) => {
  const { fnArray } = await page.getOperatorList();
  let [depth, unmarked] = [0, 0];
  for (const order of fnArray) {
    if (order === OPS.beginMarkedContent || order === OPS.beginMarkedContentProps) depth++;
    else if (order === OPS.endMarkedContent) depth--;
    else if (depth === 0 && (order === OPS.showText || order === OPS.constructPath)) unmarked++;
  }
  return { root: await page.getStructTree(), unmarked };
};

const readers = { texts: textOf, drawn: drawnOf, structures: structureOf };

const read = async (what, bytes) => {
  const pdf = await getDocument({ data: bytes, useSystemFonts: false, verbosity: 0 }).promise;
  const pages = [];
  for (let number = 1; number <= pdf.numPages; number++) {
    pages.push(await readers[what](await pdf.getPage(number)));
  }
  await pdf.destroy();
  return pages;
};

parentPort?.on('message', ({ id, what, bytes }) => {
  read(what, bytes).then(
    (pages) => parentPort?.postMessage({ id, pages }),
    (error) => parentPort?.postMessage({ id, error: String(error) }),
  );
});
