import type { ActivityLog } from '@gantry/contract/users';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Column } from '../../../shared/table/data-table.tsx';
import { Moment } from '../../../shared/time/moment.tsx';
import { deviceOf } from '../../../shared/users/device.ts';
import { mainSubjectOf } from './subject.ts';
import { SubjectLink } from './subject-link.tsx';
import { useActionName } from './use-action-name.ts';

export type Entry = ActivityLog['activities'][number];

export function useActivityColumns(): readonly Column<Entry>[] {
  const { t } = useTranslation('administration');
  const actionName = useActionName();
  return useMemo(
    () => [
      {
        id: 'at',
        header: t('activity.at'),
        width: '11.5rem',
        csv: ({ timestamp }) => timestamp,
        cell: ({ timestamp }) => <Moment at={timestamp} />,
      },
      {
        id: 'by',
        header: t('activity.user'),
        csv: ({ by }) => by?.name ?? t('activity.nobody'),
        cell: ({ by }) =>
          by ? <bdi>{by.name}</bdi> : <span className="text-muted">{t('activity.nobody')}</span>,
      },
      {
        id: 'action',
        header: t('activity.action'),
        csv: ({ action }) => actionName(action),
        cell: ({ action }) => actionName(action),
      },
      {
        id: 'about',
        header: t('activity.subject'),
        wideOnly: true,
        csv: ({ action, details }) => {
          const subject = mainSubjectOf(action, details);
          return (
            [subject && t(`subjects.${subject.kind}`), briefOf(details)].filter(Boolean).join(' ') || null
          );
        },
        cell: ({ action, details }) => {
          const subject = mainSubjectOf(action, details);
          const text = briefOf(details);
          if (!subject) return text && <bdi className="text-muted">{text}</bdi>;
          return (
            <>
              <SubjectLink subject={subject}>{t(`subjects.${subject.kind}`)}</SubjectLink>
              {text && <bdi className="text-muted"> {text}</bdi>}
            </>
          );
        },
      },
      {
        id: 'from',
        header: t('activity.where'),
        width: '13rem',
        wideOnly: true,
        csv: ({ ipAddress, userAgent }) => [ipAddress, userAgent].filter(Boolean).join(' ') || null,
        cell: ({ ipAddress, userAgent }) => (
          <span title={userAgent ?? undefined}>
            <bdi className="figures">{ipAddress}</bdi> <bdi className="text-muted">{deviceOf(userAgent)}</bdi>
          </span>
        ),
      },
    ],
    [t, actionName],
  );
}

/** The detail that best identifies the subject of an entry. */
function briefOf(details: Entry['details']): string | undefined {
  const named = ['name', 'email', 'plate', 'url', 'reason', 'title', 'note', 'fileName'];
  const found = named.map((name) => details?.[name]).find((value) => typeof value === 'string');
  return found as string | undefined;
}
