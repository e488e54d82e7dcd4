import type { RetentionRun } from '@gantry/contract/storage';
import { useTranslation } from 'react-i18next';
import { sizeText } from '../../../shared/locale/size-text.ts';
import { ScrolledTable } from '../../../ui/scrolled-table.tsx';

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
