import { GantryError } from '@gantry/client';
import { type QueryKey, useQuery } from '@tanstack/react-query';
import { useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Failure } from '../service/failure.tsx';

interface OpenedOptions<Row> {
  /** The id in the URL; undefined: nothing is open. */
  readonly id: string | undefined;
  /** The row, if it is among the loaded rows of the list. */
  readonly listed: Row | undefined;
  /** Whether the first page of the list is still loading. */
  readonly isPending: boolean;
  readonly queryKey: QueryKey;
  readonly load: (id: string) => Promise<Row>;
}

export interface Opened<Row> {
  readonly row: Row | undefined;
  /** Why the row cannot be shown; null while there is a row. */
  readonly error: unknown;
  readonly refetch: () => void;
}

/**
 * The row that the URL names, which is fetched by its id if it is not among the loaded rows or does not match the
 * filters. A row that leaves the list stays open unless the service no longer finds it, so that text being entered is
 * not lost.
 */
export function useOpened<Row>({ id, listed, isPending, queryKey, load }: OpenedOptions<Row>): Opened<Row> {
  const enabled = id !== undefined && listed === undefined && !isPending;
  const { data, error, refetch } = useQuery({ queryKey, queryFn: () => load(id ?? ''), enabled });
  const found = listed ?? (enabled ? data : undefined);
  const latest = useRef<{ readonly id: string; readonly row: Row } | null>(null);
  if (id !== undefined && found !== undefined) latest.current = { id, row: found };
  const kept = latest.current?.id === id && !isNotFound(error) ? latest.current?.row : undefined;
  const row = found ?? kept;
  return { row, error: enabled && !row ? error : null, refetch: () => void refetch() };
}

function isNotFound(error: unknown): boolean {
  return error instanceof GantryError && error.code === 'NOT_FOUND';
}

interface NotOpenedProps {
  readonly opened: Opened<unknown>;
  readonly onClose: () => void;
}

/** Shows that the row that the URL names does not exist, or why it could not be loaded. */
export function NotOpened({ opened: { error, refetch }, onClose }: NotOpenedProps) {
  const { t } = useTranslation('common');
  if (!isNotFound(error)) return <Failure error={error} onRetry={refetch} />;
  return (
    <Empty
      icon="search"
      title={t('opened.notFound')}
      action={<Button onClick={onClose}>{t('dialog.close')}</Button>}
    >
      <p role="alert">{t('opened.text')}</p>
    </Empty>
  );
}
