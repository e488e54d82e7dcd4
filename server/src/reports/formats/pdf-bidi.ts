import bidiFactory from 'bidi-js';

const bidi = bidiFactory();

/** Letters that are written from right to left, and the digits and signs with their own rules among them. */
const RIGHT_TO_LEFT =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Samaritan}\p{Script=Mandaic}\u0600-\u07ff]/u;

export function hasRightToLeft(text: string): boolean {
  return RIGHT_TO_LEFT.test(text);
}

const LEFT_TO_RIGHT_MARK = '\u200e';
const RIGHT_TO_LEFT_MARK = '\u200f';

/** The mark that gives part of a text the direction of the whole, which the first letter determines. */
export function directionMark(text: string): string {
  if (!hasRightToLeft(text)) return '';
  const [paragraph] = bidi.getEmbeddingLevels(text).paragraphs;
  return (paragraph?.level ?? 0) % 2 === 1 ? RIGHT_TO_LEFT_MARK : LEFT_TO_RIGHT_MARK;
}

/** A part of a line with one direction. Its text is in reading order. */
export interface DirectedRun {
  readonly text: string;
  readonly isRightToLeft: boolean;
}

/**
 * The parts of a line from left to right, ordered by the Unicode Bidirectional Algorithm (UAX 9), with mirrored
 * brackets.
 */
export function runsInVisualOrder(line: string): DirectedRun[] {
  if (!hasRightToLeft(line)) return [{ text: line, isRightToLeft: false }];
  const embedding = bidi.getEmbeddingLevels(line);
  const mirrored = bidi.getMirroredCharactersMap(line, embedding.levels);
  const units = Array.from({ length: line.length }, (_, at) => mirrored.get(at) ?? line.charAt(at));
  const levelOf = (at: number): number => embedding.levels[at] ?? 0;
  const order = bidi.getReorderedIndices(line, embedding);
  const runs: DirectedRun[] = [];
  for (let from = 0; from < order.length; ) {
    const first = order[from] ?? 0;
    const isRightToLeft = levelOf(first) % 2 === 1;
    const step = isRightToLeft ? -1 : 1;
    let until = from + 1;
    while (order[until] === first + step * (until - from) && levelOf(order[until] ?? 0) === levelOf(first))
      until++;
    const least = isRightToLeft ? first - (until - from - 1) : first;
    runs.push({ text: units.slice(least, least + until - from).join(''), isRightToLeft });
    from = until;
  }
  return runs;
}
