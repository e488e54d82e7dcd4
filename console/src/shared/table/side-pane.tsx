import { type ReactNode, useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../ui/button.tsx';
import { useShortcuts } from '../../ui/shortcuts.tsx';
import type { Column } from './data-table.tsx';
import { NotOpened, type Opened } from './opened.tsx';

interface SidePaneProps {
  readonly title: ReactNode;
  /** What the pane shows, for screen readers. */
  readonly label: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A pane next to a list, with the details of one row. Below the `md` breakpoint it covers the list. */
export function SidePane({ title, label, onClose, children }: SidePaneProps) {
  const { t } = useTranslation('common');
  const pane = useRef<HTMLElement>(null);
  useShortcuts([{ keys: 'Escape', label: t('dialog.close'), scope: 'page', run: onClose }]);
  useEffect(() => {
    // On a narrow screen the pane covers the element that had the focus.
    if (matchMedia('(width < 48rem)').matches) pane.current?.focus();
  }, []);
  return (
    <aside
      ref={pane}
      tabIndex={-1}
      aria-label={label}
      className="fixed inset-0 z-30 flex flex-col bg-bg outline-none md:static md:z-auto md:w-[24rem] md:shrink-0 md:border-s xl:w-[30rem]"
    >
      <header className="flex min-h-11 items-center gap-2 border-b px-4 py-1">
        <h2 className="min-w-0 grow font-semibold">{title}</h2>
        <Button kind="quiet" icon="close" iconOnly aria-label={t('dialog.close')} onClick={onClose} />
      </header>
      <div className="flex min-h-0 grow flex-col gap-4 overflow-y-auto px-4 py-3">{children}</div>
    </aside>
  );
}

interface NotOpenedPaneProps {
  readonly label: string;
  readonly opened: Opened<unknown>;
  readonly onClose: () => void;
}

/** Shown in place of the details if the record named in the URL cannot be loaded. */
export function NotOpenedPane({ label, opened, onClose }: NotOpenedPaneProps) {
  if (opened.error === null) return null;
  return (
    <SidePane label={label} title={label} onClose={onClose}>
      <NotOpened opened={opened} onClose={onClose} />
    </SidePane>
  );
}

/** The layout of a list with an optional pane next to it. */
export function ListAndPane({ list, pane }: { readonly list: ReactNode; readonly pane: ReactNode }) {
  return (
    <div className="flex min-h-0 grow">
      <div className="flex min-w-0 grow flex-col">{list}</div>
      {pane}
    </div>
  );
}

/** The columns for which there is room: if a pane is open, those with the given ids are left out. */
export function columnsBeside<Row>(
  columns: readonly Column<Row>[],
  hasPane: boolean,
  ids: readonly string[],
): readonly Column<Row>[] {
  return hasPane ? columns.filter(({ id }) => !ids.includes(id)) : columns;
}
