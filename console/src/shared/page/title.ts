import { useEffect } from 'react';

/** From the largest to the smallest: the page, a part of it, the filters that are set, and the item that is open. */
const LEVELS = ['page', 'part', 'filter', 'item'] as const;
type Level = (typeof LEVELS)[number];

interface Name {
  readonly level: Level;
  readonly text: string;
}

let names: readonly Name[] = [];
let unseen = 0;

/** Writes the title of the document, such as `(3) Speeding · Events · Gantry`. */
function write(): void {
  const [page, part, filter, item] = LEVELS.map(
    (level) => names.findLast((name) => name.level === level)?.text,
  );
  const shown = [item ?? filter, part, page, 'Gantry'].filter(
    (text, at, all) => text && all.indexOf(text) === at,
  );
  document.title = (unseen > 0 ? `(${unseen}) ` : '') + shown.join(' · ');
}

/** Names what is shown in the title of the document, while the component is mounted. */
export function useTitle(level: Level, text: string | null | undefined): void {
  useEffect(() => {
    if (!text) return;
    const name = { level, text };
    names = [...names, name];
    write();
    return () => {
      names = names.filter((each) => each !== name);
      write();
    };
  }, [level, text]);
}

/** Puts the number of unseen alerts before the title of the document. */
export function useTitleCount(count: number): void {
  useEffect(() => {
    unseen = count;
    write();
    return () => {
      unseen = 0;
      write();
    };
  }, [count]);
}
