import type { RetentionClass, RetentionPreview, RetentionRun } from '@gantry/contract/storage';
import { useMutation } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { sizeText } from '../../../shared/locale/size-text.ts';
import { Failure } from '../../../shared/service/failure.tsx';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Icon } from '../../../ui/icon.tsx';
import { ScrolledTable } from '../../../ui/scrolled-table.tsx';
import { retentionClasses } from './refresh.ts';

interface PreviewDialogProps {
  readonly preview: RetentionPreview;
  readonly title: string;
  readonly action: string;
  /** What happens on confirmation. */
  readonly note: string;
  readonly run: () => Promise<unknown>;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** A dialog that shows what retention would remove, and asks for confirmation. */
export function PreviewDialog({ preview, title, action, note, run, onDone, onClose }: PreviewDialogProps) {
  const { t } = useTranslation(['administration', 'common']);
  const removalText = useRemovalText();
  const act = useMutation({ mutationFn: run, onSuccess: onDone });
  const { totals, removals, held } = preview;
  const removesSomething = Object.values(totals).some((n) => n !== 0);
  const last = removals
    .filter((removal) => removal.class === 'events' && removal.rows > 0)
    .map(({ month }) => month)
    .sort()
    .at(-1);
  return (
    <Dialog title={title} open onClose={onClose} width="wide">
      <p className="flex gap-2 text-lg">
        {removesSomething && <Icon name="high" className="mt-1 text-high" />}
        <span>
          {removesSomething
            ? t('retention.wouldRemove', { what: removalText(totals) })
            : t('retention.removesNothing')}{' '}
          {last !== undefined && t('retention.upTo', { month: last })}
        </span>
      </p>
      {held > 0 && (
        <p className="flex gap-2">
          <Icon name="hold" className="mt-0.5" />
          {t('retention.held', { count: held })}
        </p>
      )}
      {removals.length > 0 && <RemovalTable removals={removals} />}
      <p className="text-muted">{note}</p>
      {act.error && <Failure error={act.error} />}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{t('common:dialog.cancel')}</Button>
        <Button
          kind={removesSomething ? 'danger' : 'primary'}
          disabled={act.isPending}
          onClick={() => act.mutate()}
        >
          {action}
        </Button>
      </div>
    </Dialog>
  );
}

type Removal = RetentionRun['removals'][number] & { readonly held?: number };

/** What a run removed or would remove, by class, event type and month. */
export function RemovalTable({ removals }: { readonly removals: readonly Removal[] }) {
  const { t, i18n } = useTranslation(['administration', 'events']);
  const number = (n: number) => n.toLocaleString(i18n.language);
  const hasHeld = removals.some(({ held = 0 }) => held > 0);
  return (
    <ScrolledTable
      label={t('retention.removals')}
      head="bg-raised"
      className="rounded-md border"
      rows={removals}
      keyOf={({ class: name, eventType, month }) => `${name} ${eventType} ${month}`}
      columns={[
        {
          header: t('retention.class'),
          cell: ({ class: name, eventType }) => (
            <>
              {t(`classes.${name}`)}
              {eventType !== null && <span className="text-muted"> {t(`events:types.${eventType}`)}</span>}
            </>
          ),
        },
        { header: t('storage.month'), isLeftToRight: true, cell: ({ month }) => month },
        { header: t('retention.rows'), isFigure: true, cell: ({ rows }) => number(rows) },
        hasHeld && {
          header: t('retention.heldRows'),
          isFigure: true,
          cell: ({ held = 0 }) => number(held),
        },
        {
          header: t('storage.size'),
          isFigure: true,
          className: 'text-muted',
          cell: ({ bytes }) => bytes !== null && sizeText(bytes, i18n.language),
        },
      ]}
    />
  );
}

/** Formats totals as a text: `12,345 events and 678 images`, or `nothing`. */
export function useRemovalText(): (totals: RetentionPreview['totals']) => string {
  const { t, i18n } = useTranslation('administration');
  return (totals) => {
    const parts = retentionClasses
      .map((name) => [name, totals[name]] as const)
      .filter(([, count]) => count !== 0)
      .map(([name, count]) =>
        count === null ? t('amount.uncountedImages') : t(`amount.${name}`, { count }),
      );
    return parts.length === 0 ? t('amount.nothing') : new Intl.ListFormat(i18n.language).format(parts);
  };
}

/** The total number of removed items in each class. */
export function totalsOf(
  removals: readonly { readonly class: RetentionClass; readonly rows: number }[],
): Record<RetentionClass, number> {
  const totals = { events: 0, images: 0, reports: 0, activity: 0, traffic: 0, hits: 0, log: 0, cases: 0 };
  for (const removal of removals) totals[removal.class] += removal.rows;
  return totals;
}

/** The duration of a run in seconds; null while it is running. */
export function secondsOf({ startedAt, finishedAt }: RetentionRun): number | null {
  return finishedAt && Math.max(0, (finishedAt.getTime() - startedAt.getTime()) / 1000);
}
