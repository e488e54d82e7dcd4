import type { LogEntry } from '@gantry/contract/log';
import { useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, type RefObject, useDeferredValue, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { classes } from '../../ui/classes.ts';
import { Icon } from '../../ui/icon.tsx';
import { api } from '../service/service.ts';
import { useIncidentTitle } from '../status/incident-title.ts';

/** Something to which an entry of the log can refer. */
export type FoundRef = LogEntry['refs'][number];

const TAKE = 5;
export const refIcons = { INCIDENT: 'incident', SENSOR: 'sensor', LOCATION: 'location' } as const;

/** The items of a list; none where its feature is switched off, or the role may not see it. */
const orNone = <Item,>(list: Promise<readonly Item[]>): Promise<readonly Item[]> => list.catch(() => []);

async function findRefs(search: string, titleOf: ReturnType<typeof useIncidentTitle>): Promise<FoundRef[]> {
  const [incidents, sensors, locations] = await Promise.all([
    orNone(api.incidents.getAll.query({ search, take: TAKE }).then((page) => page.incidents)),
    orNone(api.sensors.getAll.query({ search, take: TAKE }).then((page) => page.sensors)),
    orNone(api.locations.getAll.query({ search, take: TAKE }).then((page) => page.locations)),
  ]);
  return [
    ...incidents.map((each) => ({ kind: 'INCIDENT' as const, id: each.id, name: titleOf(each) })),
    ...sensors.map(({ id, name }) => ({ kind: 'SENSOR' as const, id, name })),
    ...locations.map(({ id, name }) => ({ kind: 'LOCATION' as const, id, name })),
  ];
}

/** What follows the last # before the caret; null without one. */
function partOf({ value, selectionStart }: HTMLInputElement): string | null {
  return /#([^#]{0,50})$/.exec(value.slice(0, selectionStart ?? value.length))?.[1] ?? null;
}

/** Offers what a text can refer to, while something follows a # in the line. */
export function useRefs(line: RefObject<HTMLInputElement | null>, onChoose: (ref: FoundRef) => void) {
  const id = useId();
  const titleOf = useIncidentTitle();
  const [part, setPart] = useState<string | null>(null);
  const [at, setAt] = useState(0);
  const wanted = useDeferredValue(part);
  const { data = [] } = useQuery({
    queryKey: ['log refs', wanted],
    queryFn: () => findRefs(wanted ?? '', titleOf),
    enabled: wanted !== null,
    staleTime: 30_000,
  });
  const isOpen = part !== null && data.length > 0;
  const close = () => setPart(null);
  const look = (input: HTMLInputElement) => {
    setPart(partOf(input));
    setAt(0);
  };
  const choose = (ref: FoundRef) => {
    const input = line.current;
    if (!input) return;
    const caret = input.selectionStart ?? input.value.length;
    const before = `${input.value.slice(0, caret - (part?.length ?? 0) - 1)}#${ref.name} `;
    input.value = before + input.value.slice(caret);
    input.setSelectionRange(before.length, before.length);
    input.focus();
    close();
    onChoose(ref);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (!isOpen) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const chosen = data[at];
    if (step !== undefined) setAt((at + step + data.length) % data.length);
    else if (event.key === 'Enter' && chosen) choose(chosen);
    else if (event.key === 'Escape') close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return {
    ...{ id, isOpen, close, choose, at },
    items: data,
    inputProps: {
      role: 'combobox',
      'aria-expanded': isOpen,
      'aria-controls': id,
      'aria-autocomplete': 'list' as const,
      'aria-activedescendant': isOpen ? `${id}-${at}` : undefined,
      onKeyDown,
      onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => look(currentTarget),
    },
  };
}

type RefListProps = Pick<ReturnType<typeof useRefs>, 'id' | 'isOpen' | 'items' | 'at' | 'choose'>;

/** What the text can refer to, below the line. */
export function RefList({ id, isOpen, items, at, choose }: RefListProps) {
  const { t } = useTranslation('log');
  return (
    <div
      id={id}
      role="listbox"
      aria-label={t('refs')}
      hidden={!isOpen}
      className="absolute inset-x-0 top-full z-50 mt-1 max-h-64 overflow-y-auto rounded-md border bg-raised p-1 shadow-xl"
    >
      {items.map((ref, n) => (
        // biome-ignore lint/a11y: the line keeps the focus and handles the keys
        <div
          key={`${ref.kind} ${ref.id}`}
          id={`${id}-${n}`}
          role="option"
          aria-selected={n === at}
          // The line keeps the focus.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => choose(ref)}
          className={classes(
            'flex cursor-default items-center gap-2 rounded px-2 py-1.5 pointer-coarse:min-h-11',
            n === at ? 'bg-selected' : 'hover:bg-hover',
          )}
        >
          <Icon name={refIcons[ref.kind]} className="text-muted" />
          <bdi className="one-line">{ref.name}</bdi>
          <span className="ms-auto text-sm text-muted">{t(`refKinds.${ref.kind}`)}</span>
        </div>
      ))}
    </div>
  );
}
