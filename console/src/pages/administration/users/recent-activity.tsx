import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Failure } from '../../../shared/service/failure.tsx';
import { service } from '../../../shared/service/service.ts';
import { Moment } from '../../../shared/time/moment.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { useActionName } from '../activity/use-action-name.ts';

const SHOWN = 8;

/** The latest entries of a user in the activity log. */
export function RecentActivity({ userId }: { readonly userId: string }) {
  const { t } = useTranslation('administration');
  const actionName = useActionName();
  const { data, error } = useQuery(service.users.getActivity.queryOptions({ userId, take: SHOWN }));
  if (error) return <Failure error={error} />;
  if (!data) return <Skeleton rows={4} />;
  if (data.activities.length === 0) return <p className="p-3 text-muted">{t('activity.nothing')}</p>;
  return (
    <ul>
      {data.activities.map(({ action, timestamp }, at) => (
        <li
          // biome-ignore lint/suspicious/noArrayIndexKey: these entries have no id, and the list is replaced as a whole
          key={at}
          className="flex items-baseline justify-between gap-3 border-b px-3 py-1.5 last:border-b-0"
        >
          <span className="min-w-0">{actionName(action)}</span>
          <Moment at={timestamp} as="ago" className="text-sm text-muted" />
        </li>
      ))}
    </ul>
  );
}
