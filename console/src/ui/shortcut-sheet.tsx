import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Dialog } from './dialog.tsx';
import { type Shortcut, useAllShortcuts, useShortcuts } from './shortcuts.tsx';

/** The dialog that lists all shortcuts, opened with `?`. */
export function ShortcutSheet() {
  const { t } = useTranslation('common');
  const [open, setOpen] = useState(false);
  useShortcuts([{ keys: '?', label: t('shortcuts.sheet'), scope: 'everywhere', run: () => setOpen(true) }]);
  const registered = useAllShortcuts();
  // If two shortcuts have the same keys, that of the page applies, and otherwise the one that was registered last.
  const ofPage = byKeys(registered.filter(({ scope }) => scope === 'page'));
  const others = byKeys(registered.filter(({ scope, keys }) => scope === 'everywhere' && !ofPage.has(keys)));
  return (
    <Dialog title={t('shortcuts.title')} open={open} onClose={() => setOpen(false)} width="wide">
      <div className="grid gap-6 sm:grid-cols-2">
        <Group title={t('shortcuts.page')} shortcuts={[...ofPage.values()]} />
        <Group title={t('shortcuts.everywhere')} shortcuts={[...others.values()]} />
      </div>
    </Dialog>
  );
}

const byKeys = (shortcuts: readonly Shortcut[]): ReadonlyMap<string, Shortcut> =>
  new Map(shortcuts.map((shortcut) => [shortcut.keys, shortcut]));

function Group({ title, shortcuts }: { readonly title: string; readonly shortcuts: readonly Shortcut[] }) {
  if (shortcuts.length === 0) return null;
  return (
    <section>
      <h3 className="mb-2 font-semibold">{title}</h3>
      <dl className="grid grid-cols-[auto_1fr] items-baseline gap-x-4 gap-y-1.5">
        {shortcuts.map(({ keys, label }) => (
          <div key={keys} className="contents">
            <dt dir="ltr" className="flex gap-1">
              {keys.split(' ').map((key) => (
                <Key key={key} name={key} />
              ))}
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

const ARROWS = { Up: '↑', Down: '↓', Left: '←', Right: '→' } as const;

/** A key as it is printed on the keyboard. */
export function Key({ name }: { readonly name: string }) {
  return (
    <kbd className="rounded border border-line-strong bg-surface px-1.5 font-mono text-sm">
      {name.replace('Shift+', '⇧ ').replace(/^Arrow(\w+)$/, (_, to: keyof typeof ARROWS) => ARROWS[to])}
    </kbd>
  );
}
