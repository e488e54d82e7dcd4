import { Parser } from 'htmlparser2';
import { MAX_DEPTH, MAX_ELEMENTS } from './limits.ts';
import type { XmlElement } from './message.ts';

interface OpenElement {
  readonly name: string;
  readonly attributes: Record<string, string>;
  readonly children: XmlElement[];
  text: string;
}

/** An XML document that is not accepted. The message is a sentence for users. */
export class UnreadableXml extends Error {
  override name = 'UnreadableXml';

  /** Of a document that is incomplete: its root, with those of its children that are complete. */
  readonly whole: XmlElement | null;

  constructor(message: string, whole: XmlElement | null = null) {
    super(message);
    this.whole = whole;
  }
}

/**
 * Parses a document without a document type definition. Prefixes of namespaces are removed, because devices of one
 * maker use different ones.
 * @throws UnreadableXml when it is incomplete, too deep or too large, or has a document type definition
 */
export function parseXml(text: string): XmlElement {
  const open: OpenElement[] = [];
  let root: XmlElement | null = null;
  let elements = 0;
  let endOfLastTag = -1;
  const parser = new Parser(
    {
      onprocessinginstruction(name) {
        if (name.startsWith('!'))
          throw new UnreadableXml('XML with a document type definition is not accepted');
      },
      onopentag(name, attributes) {
        elements++;
        if (elements > MAX_ELEMENTS)
          throw new UnreadableXml(`The XML has more than ${MAX_ELEMENTS} elements`);
        if (open.length >= MAX_DEPTH)
          throw new UnreadableXml(`The XML is nested more than ${MAX_DEPTH} levels deep`);
        if (root) throw new UnreadableXml('The XML has more than one root element');
        open.push({ name: localName(name), attributes, children: [], text: '' });
        endOfLastTag = parser.endIndex;
      },
      ontext(data) {
        const element = open.at(-1);
        if (element) element.text += data;
      },
      onclosetag(name, isImplied) {
        // An empty element (`<a/>`) is closed by the tag that opens it.
        if (isImplied && parser.endIndex !== endOfLastTag)
          throw new UnreadableXml(
            `The XML is incomplete: the element ${name} is not closed`,
            open[0] && { ...open[0], text: '' },
          );
        const closed = open.pop();
        if (!closed) return;
        const element = { ...closed, text: closed.text.trim() };
        const parent = open.at(-1);
        if (parent) parent.children.push(element);
        else root = element;
      },
    },
    { xmlMode: true },
  );
  parser.end(text);
  if (!root) throw new UnreadableXml('The XML has no root element');
  return root;
}

/** All descendants with the name, in the order of the document. */
export function elementsNamed(element: XmlElement, name: string): XmlElement[] {
  return element.children.flatMap((child) => [
    ...(child.name === name ? [child] : []),
    ...elementsNamed(child, name),
  ]);
}

/**
 * The element as plain JSON: a text, or an object with the children, of which repeated ones are arrays, the attributes
 * (`@name`) and the text (`#text`).
 */
export function asJson(element: XmlElement): unknown {
  const attributes = Object.entries(element.attributes).filter(([name]) => !name.startsWith('xmlns'));
  if (element.children.length === 0 && attributes.length === 0) return element.text;
  const json: Record<string, unknown> = Object.create(null);
  for (const [name, value] of attributes) json[`@${name}`] = value;
  if (element.text !== '') json['#text'] = element.text;
  for (const child of element.children) {
    const value = asJson(child);
    const before = json[child.name];
    if (before === undefined) json[child.name] = value;
    else if (Array.isArray(before)) before.push(value);
    else json[child.name] = [before, value];
  }
  return { ...json };
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}
