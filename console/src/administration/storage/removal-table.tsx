import type { RetentionRun } from '@gantry/contract/storage';
import { useTranslation } from 'react-i18next';
import { sizeText } from '../../reports/size.ts';

type Removal = RetentionRun['removals'][number] & { readonly held?: number };

/** What was or would be removed, by class, month and type. */
export function RemovalTable({ removals }: { readonly removals: readonly Removal[] }) {
  const { t, i18n } = useTranslation(['administration', 'events']);
  const number = (n: number) => n.toLocaleString(i18n.language);
  const hasHeld = removals.some(({ held = 0 }) => held > 0);
  const head = 'border-b px-2 py-1 text-sm font-medium text-muted';
  return (
    <section
      aria-label={t('retention.removals')}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
      tabIndex={0}
      className="max-h-72 overflow-auto rounded-md border"
    >
      <table className="w-full border-separate border-spacing-0">
        <thead className="sticky top-0 bg-raised">
          <tr>
            <th scope="col" className={`${head} text-start`}>
              {t('retention.class')}
            </th>
            <th scope="col" className={`${head} text-start`}>
              {t('storage.month')}
            </th>
            <th scope="col" className={`${head} text-end`}>
              {t('retention.rows')}
            </th>
            {hasHeld && (
              <th scope="col" className={`${head} text-end`}>
                {t('retention.heldRows')}
              </th>
            )}
            <th scope="col" className={`${head} text-end`}>
              {t('storage.size')}
            </th>
          </tr>
        </thead>
        <tbody>
          {removals.map(({ class: name, eventType, month, rows, bytes, held = 0 }) => (
            <tr key={`${name} ${eventType} ${month}`}>
              <td className="px-2 py-1">
                {t(`classes.${name}`)}
                {eventType !== null && <span className="text-muted"> {t(`events:types.${eventType}`)}</span>}
              </td>
              <td dir="ltr" className="figures px-2 rtl:text-end">
                {month}
              </td>
              <td className="figures px-2 text-end">{number(rows)}</td>
              {hasHeld && <td className="figures px-2 text-end">{number(held)}</td>}
              <td className="figures px-2 text-end text-muted">
                {bytes !== null && sizeText(bytes, i18n.language)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
