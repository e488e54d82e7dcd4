import type { Pdf } from './pdf-fonts.ts';

type Element = ReturnType<Pdf['struct']>;
type ElementOptions = PDFKit.Mixins.StructureElementOptions & {
  /** Of a head: what it names, and how many columns it covers. */
  readonly scope?: 'Row' | 'Column';
  readonly columns?: number;
  /** Of an image, in points from the top left: left, top, right, bottom. */
  readonly bbox?: readonly [number, number, number, number];
};

/** pdfkit has no option for a cell over several columns; its attributes have a place for one. */
type SpanningElement = Element & { readonly dictionary: { readonly data: { readonly A: object } } };

/** Elements that contain other elements instead of text. */
type Group = 'Document' | 'Table' | 'TR';
/** Elements that contain text: headings, paragraphs and the cells of a table. */
type Leaf = 'H1' | 'H2' | 'P' | 'TH' | 'TD';

const GROUPS: ReadonlySet<string> = new Set<Group>(['Document', 'Table', 'TR']);

/**
 * What assistive technology reads of a PDF (PDF/UA-1, ISO 14289-1): a tree of elements, each with the text that is
 * drawn while it is open. What is drawn outside of one is an artifact, which is not read: stripes, lines, the footer.
 */
export class PdfTags {
  readonly #pdf: Pdf;
  readonly #open: { readonly type: string; readonly element: Element }[] = [];
  #isMarked = false;

  constructor(pdf: Pdf) {
    this.#pdf = pdf;
    const element = pdf.struct('Document');
    pdf.addStructure(element);
    this.#open.push({ type: 'Document', element });
  }

  /** Opens an element within the current one. */
  begin(type: Group | Leaf | 'Figure', { columns = 1, ...options }: ElementOptions = {}): void {
    const element = this.#pdf.struct(type, options);
    if (columns > 1) Object.assign((element as SpanningElement).dictionary.data.A, { ColSpan: columns });
    this.#open.at(-1)?.element.add(element);
    this.#open.push({ type, element });
  }

  /** Closes the current element. */
  end(): void {
    this.#open.pop()?.element.end();
  }

  /** Draws an element with text, or a row of a table. Within an artifact, it belongs to that. */
  element(type: Leaf | 'TR', draw: () => void, options: ElementOptions = {}): void {
    if (this.#isMarked) {
      draw();
      return;
    }
    this.begin(type, options);
    draw();
    this.end();
  }

  /** Reserves the place of an element whose text is not known yet. @returns what draws it, to be called once */
  reserve(type: Leaf): (draw: () => void) => void {
    const element = this.#pdf.struct(type);
    this.#open.at(-1)?.element.add(element);
    return (draw) => {
      this.#open.push({ type, element });
      draw();
      this.end();
    };
  }

  /** Draws an image. @param alt what it shows, in words */
  figure(alt: string, bbox: readonly [number, number, number, number], draw: () => void): void {
    this.begin('Figure', { alt, bbox });
    this.text(draw);
    this.end();
  }

  /** Draws text of the current element, or an artifact if that is a group. */
  text(draw: () => void): void {
    const current = this.#open.at(-1);
    if (current === undefined || GROUPS.has(current.type)) {
      this.artifact(draw);
      return;
    }
    this.#mark(draw, () => {
      const content = this.#pdf.markStructureContent(current.type);
      return () => current.element.add(content);
    });
  }

  /** Draws what is not read. */
  artifact(draw: () => void): void {
    this.#mark(draw, () => {
      this.#pdf.markContent('Artifact', { type: 'Layout' });
      return () => undefined;
    });
  }

  /** Content that is marked cannot contain other such content: what is drawn within an image belongs to it. */
  #mark(draw: () => void, mark: () => () => void): void {
    if (this.#isMarked) {
      draw();
      return;
    }
    const add = mark();
    this.#isMarked = true;
    draw();
    this.#isMarked = false;
    this.#pdf.endMarkedContent();
    add();
  }
}

const ofDocuments = new WeakMap<Pdf, PdfTags>();

/** The tags of a document. */
export function tagsOf(pdf: Pdf): PdfTags {
  const tags = ofDocuments.get(pdf) ?? new PdfTags(pdf);
  ofDocuments.set(pdf, tags);
  return tags;
}
