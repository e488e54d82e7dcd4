import { plateKey } from '@gantry/contract/plate';

/** A prefix of one or several plates: a node of the Aho-Corasick automaton, which searches for all plates at once. */
interface Beginning {
  readonly next: Map<string, Beginning>;
  /** The longest other prefix that is a suffix of this one (the failure link); null for the empty prefix. */
  shorter: Beginning | null;
  /** Number of characters of the longest plate that is a suffix of this prefix; 0 if there is none. */
  plateLength: number;
}

/**
 * A function that replaces plates in texts, in any form that has the same key. Its time is
 * proportional to the length of the text, because devices send both the plates and the texts.
 */
export function replacePlates(plates: Iterable<string>, replacement: string): (text: string) => string {
  const empty = searchFor(plates);
  if (empty.next.size === 0) return (text) => text;
  return (text) => {
    let shown = '';
    let shownUntil = 0;
    for (const { from, until } of found(text, empty)) {
      shown += text.slice(shownUntil, from) + replacement;
      shownUntil = until;
    }
    return shownUntil === 0 ? text : shown + text.slice(shownUntil);
  };
}

interface Part {
  readonly from: number;
  readonly until: number;
}

/** The parts of a text that are plates. Those that overlap are one. */
function found(text: string, empty: Beginning): Part[] {
  const parts: Part[] = [];
  const offsets: number[] = [];
  let at: Beginning = empty;
  let offset = 0;
  for (const character of text) {
    const start = offset;
    offset += character.length;
    for (const each of compared(character)) {
      offsets.push(start);
      at = following(at, each);
      if (at.plateLength === 0) continue;
      let from = offsets[offsets.length - at.plateLength] ?? start;
      for (let last = parts.at(-1); last && last.until > from; last = parts.at(-1)) {
        from = Math.min(from, last.from);
        parts.pop();
      }
      parts.push({ from, until: offset });
    }
  }
  return parts;
}

function searchFor(plates: Iterable<string>): Beginning {
  const empty: Beginning = { next: new Map(), shorter: null, plateLength: 0 };
  for (const plate of plates) {
    const characters = [...plateKey(plate)].flatMap(compared);
    let at = empty;
    for (const each of characters) {
      const next = at.next.get(each) ?? { next: new Map(), shorter: empty, plateLength: 0 };
      at.next.set(each, next);
      at = next;
    }
    if (at !== empty) at.plateLength = characters.length;
  }
  // Breadth first, so that shorter prefixes are complete before longer ones. The loop also visits the elements that it
  // adds.
  const beginnings = [empty];
  for (const at of beginnings) {
    for (const [each, next] of at.next) {
      if (at.shorter) next.shorter = following(at.shorter, each);
      next.plateLength ||= next.shorter?.plateLength ?? 0;
      beginnings.push(next);
    }
  }
  return empty;
}

/** The longest prefix that is a suffix of the text read so far and one more character. */
function following(before: Beginning, character: string): Beginning {
  let at = before;
  for (;;) {
    const next = at.next.get(character);
    if (next) return next;
    if (!at.shorter) return at;
    at = at.shorter;
  }
}

const ASCII_COMPARED = /[a-z0-9*?]/i;

/**
 * A character of a text as it is compared, with accents as separate characters; none for what the key of a plate leaves
 * out. The dot of a decomposed İ is left out of all letters.
 */
function compared(character: string): readonly string[] {
  if (character < '\x80') return ASCII_COMPARED.test(character) ? [character.toUpperCase()] : [];
  return [...plateKey(character).normalize('NFD').replaceAll('\u0307', '')];
}
