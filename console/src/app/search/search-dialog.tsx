import { useRouter } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useUser } from '../../shared/session/session.ts';
import { classes } from '../../ui/classes.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Icon } from '../../ui/icon.tsx';
import { createStored } from '../../ui/stored.ts';
import { type Found, type FoundGroup, useResults } from './use-results.ts';

const RECENT = 6;
/** The results that were opened last, and by which user: other users of the browser must not see them. */
interface Recent {
  readonly userId: string;
  readonly items: readonly Found[];
}

function isRecent(value: unknown): boolean {
  const { userId, items } = (value ?? {}) as Partial<Recent>;
  return typeof userId === 'string' && Array.isArray(items);
}

const recent = createStored<Recent>('search.recent', { userId: '', items: [] }, isRecent);

/** The search field with its results. The arrow keys select a result, and Enter opens it. */
export function SearchDialog({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTranslation('search');
  const router = useRouter();
  const id = useId();
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const user = useUser();
  const { userId, items: kept } = recent.use();
  const latest = userId === user.id ? kept : [];
  const { groups: found, isSearching } = useResults(text);
  const groups: readonly FoundGroup[] =
    text.trim() === '' && latest.length > 0 ? [{ name: 'recent', items: latest }] : found;
  const items = groups.flatMap((group) => group.items);
  const active = Math.min(at, items.length - 1);
  const open = (item: Found) => {
    // Plates are personal data, so they are not stored in the browser.
    if (item.icon !== 'events' && item.icon !== 'watchlist' && item.run === undefined)
      recent.set({
        userId: user.id,
        items: [item, ...latest.filter(({ to }) => to !== item.to)].slice(0, RECENT),
      });
    onClose();
    if (item.run) item.run();
    else router.history.push(item.to);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && items.length > 0) {
      event.preventDefault();
      setAt((active + step + items.length) % items.length);
    }
    const item = items[active];
    if (event.key === 'Enter' && item && !event.nativeEvent.isComposing) {
      event.preventDefault();
      open(item);
    }
  };
  return (
    <Dialog title={t('title')} open onClose={onClose} width="wide">
      <input
        type="search"
        role="combobox"
        aria-label={t('search')}
        aria-expanded={items.length > 0}
        aria-controls={`${id}-list`}
        aria-activedescendant={items.length > 0 ? `${id}-${active}` : undefined}
        aria-autocomplete="list"
        autoComplete="off"
        placeholder={t('placeholder')}
        dir="auto"
        value={text}
        maxLength={200}
        autoFocus
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
        className="min-h-11 rounded-md border border-line-strong bg-bg px-3 text-lg"
      />
      <Results id={id} groups={groups} active={active} onOpen={open} onPoint={setAt} />
      <p role="status" className="text-sm text-muted">
        {items.length === 0 && text.trim().length > 1
          ? isSearching
            ? t('searching')
            : t('nothing')
          : t('hint')}
      </p>
    </Dialog>
  );
}

interface ResultsProps {
  /** The prefix of the element ids of the list and its options. */
  readonly id: string;
  readonly groups: readonly FoundGroup[];
  readonly active: number;
  readonly onOpen: (item: Found) => void;
  readonly onPoint: (at: number) => void;
}

/** The results, grouped by kind. The focus stays in the field, which refers to the active option by its id. */
function Results({ id, groups, active, onOpen, onPoint }: ResultsProps) {
  const { t } = useTranslation('search');
  useEffect(() => {
    document.getElementById(`${id}-${active}`)?.scrollIntoView({ block: 'nearest' });
  }, [id, active]);
  let next = 0;
  return (
    <div id={`${id}-list`} role="listbox" aria-label={t('results')} className="max-h-[60vh] overflow-y-auto">
      {groups.map(({ name, items }) => (
        // biome-ignore lint/a11y/useSemanticElements: HTML has no element for a group of options in a listbox
        <div key={name} role="group" aria-label={t(`groups.${name}`)} className="pb-2">
          <p aria-hidden="true" className="px-2 py-1 text-sm text-muted">
            {t(`groups.${name}`)}
          </p>
          {items.map((item) => {
            const at = next++;
            return (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus and handles the keys
              <div
                key={`${item.to} ${item.label}`}
                id={`${id}-${at}`}
                role="option"
                tabIndex={-1}
                aria-selected={at === active}
                onClick={() => onOpen(item)}
                onPointerMove={() => onPoint(at)}
                className={classes(
                  'flex min-h-9 items-center gap-3 rounded-md px-2 pointer-coarse:min-h-11',
                  at === active && 'bg-selected',
                )}
              >
                <Icon name={item.icon} className="text-muted" />
                <bdi className="one-line">{item.label}</bdi>
                {item.note && (
                  <span className="one-line ms-auto text-sm text-muted">
                    <bdi>{item.note}</bdi>
                  </span>
                )}
              </div>
            );
          })}
        </div>
      ))}
    </div>
  );
}
