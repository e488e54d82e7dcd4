import type { Hotlist, HotlistImport, HotlistImportState } from '@gantry/contract/hotlists';
import { useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ConfirmDialog } from '../../shared/form/form-dialog.tsx';
import { api, service } from '../../shared/service/service.ts';
import { figureColumn, timeColumn } from '../../shared/table/column.tsx';
import { type Column, DataTable } from '../../shared/table/data-table.tsx';
import { usePages } from '../../shared/table/pages.ts';
import { useCursor } from '../../shared/table/use-cursor.ts';
import { Badge, type Look } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Select } from '../../ui/select.tsx';

const keyOf = ({ id }: HotlistImport): string => id;
const isUnderWay = ({ state }: HotlistImport): boolean => state === 'STAGING' || state === 'APPLYING';

export const importLooks: Readonly<Record<HotlistImportState, Look>> = {
  UPLOADED: { tone: 'medium', icon: 'time' },
  STAGING: { tone: 'low', icon: 'refresh' },
  STAGED: { tone: 'medium', icon: 'time' },
  APPLYING: { tone: 'low', icon: 'refresh' },
  APPLIED: { tone: 'good', icon: 'good' },
  UNCHANGED: { tone: 'good', icon: 'good' },
  REFUSED: { tone: 'critical', icon: 'failure' },
  CANCELLED: { tone: 'calm', icon: 'close' },
  FAILED: { tone: 'critical', icon: 'failure' },
};

interface ImportsProps {
  readonly list: Hotlist;
  /** The import that is open in the panel. */
  readonly openId: string | null;
  readonly onOpen: (id: string) => void;
}

/** The imports of a list with what became of each, and the former versions that can be restored. */
export function Imports({ list, openId, onOpen }: ImportsProps) {
  const { t } = useTranslation('hotlists');
  const client = useQueryClient();
  const [restored, setRestored] = useState<number | null>(null);
  const [cursor, setCursor] = useState<string | null>(null);
  const pages = usePages({
    queryKey: service.hotlists.getImports.queryKey({ id: list.id }),
    load: (page, signal) => api.hotlists.getImports.query({ id: list.id, ...page }, { signal }),
    rows: 'imports',
    keyOf,
    isUnderWay,
  });
  const columns = useColumns(list, setRestored);
  const open = ({ id }: HotlistImport) => onOpen(id);
  const activeKey = openId ?? cursor;
  useCursor({ rows: pages.rows, keyOf, activeKey, onMove: ({ id }) => setCursor(id), onOpen: open });
  return (
    <>
      {list.formerVersions.length > 0 && <Restore list={list} onRestore={setRestored} />}
      <DataTable
        label={t('imports.title')}
        columns={columns}
        pages={pages}
        keyOf={keyOf}
        activeKey={activeKey}
        onActivate={open}
        empty={
          <Empty icon="file" title={t('imports.none')}>
            {t('imports.noneText')}
          </Empty>
        }
      />
      {restored !== null && (
        <ConfirmDialog
          title={t('imports.restore', { version: restored })}
          action={t('imports.restore', { version: restored })}
          run={() => api.hotlists.revert.mutate({ id: list.id, version: restored })}
          onDone={() => {
            setRestored(null);
            void client.invalidateQueries({ queryKey: service.hotlists.pathKey() });
          }}
          onClose={() => setRestored(null)}
        >
          <p>{t('imports.restoreText', { version: restored, next: list.version + 1 })}</p>
        </ConfirmDialog>
      )}
    </>
  );
}

function Restore({
  list,
  onRestore,
}: {
  readonly list: Hotlist;
  readonly onRestore: (version: number) => void;
}) {
  const { t } = useTranslation('hotlists');
  const [chosen, setChosen] = useState<number | null>(null);
  const [latest = 0] = list.formerVersions;
  const version = chosen !== null && list.formerVersions.includes(chosen) ? chosen : latest;
  return (
    <div className="flex flex-wrap items-end gap-2 border-b px-4 py-2">
      <Select
        label={t('imports.former')}
        value={String(version)}
        options={list.formerVersions.map((each) => ({ value: String(each), label: String(each) }))}
        onChange={(value) => setChosen(Number(value))}
      />
      <Button icon="undo" onClick={() => onRestore(version)}>
        {t('imports.restore', { version })}
      </Button>
    </div>
  );
}

function useColumns(
  { formerVersions }: Hotlist,
  onRestore: (version: number) => void,
): readonly Column<HotlistImport>[] {
  const { t, i18n } = useTranslation('hotlists');
  return useMemo(() => {
    const share = new Intl.NumberFormat(i18n.language, { style: 'percent' });
    return [
      timeColumn('at', t('imports.at'), ({ at }) => at),
      {
        id: 'state',
        header: t('imports.state'),
        cell: ({ state, error, progress }) => (
          <span className="flex min-w-0 flex-wrap items-center gap-x-2">
            <Badge {...importLooks[state]}>{t(`import.states.${state}`)}</Badge>
            {progress !== null && share.format(progress / 100)}
            {error && <bdi className="one-line text-muted">{error}</bdi>}
          </span>
        ),
      },
      {
        id: 'file',
        header: t('imports.file'),
        from: 'medium',
        cell: ({ fileName, origin, revertsTo }) =>
          origin === 'REVERT' ? (
            t('imports.reverted', { version: revertsTo })
          ) : (
            <bdi>{fileName ?? t(`imports.origins.${origin}`)}</bdi>
          ),
      },
      {
        id: 'by',
        header: t('imports.by'),
        wideOnly: true,
        cell: ({ by, appliedBy, origin }) =>
          by || appliedBy ? <bdi>{(appliedBy ?? by)?.name}</bdi> : t(`imports.origins.${origin}`),
      },
      ...(['added', 'changed', 'removed', 'invalid'] as const).map((name) =>
        figureColumn<HotlistImport>(name, t(`import.counts.${name}`), (row) => row[name], {
          width: '6.5rem',
          wideOnly: true,
        }),
      ),
      {
        id: 'version',
        header: t('fields.version'),
        width: '9rem',
        notNarrow: true,
        cell: ({ version, state }) =>
          version !== null && (
            <span className="flex items-center gap-1">
              {version}
              {state === 'APPLIED' && formerVersions.includes(version) && (
                <Button
                  kind="quiet"
                  icon="undo"
                  iconOnly
                  aria-label={t('imports.restore', { version })}
                  onClick={() => onRestore(version)}
                />
              )}
            </span>
          ),
      },
    ];
  }, [t, i18n.language, formerVersions, onRestore]);
}
