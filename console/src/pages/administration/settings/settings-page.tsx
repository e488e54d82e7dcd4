import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { PageHeader } from '../../../shared/page/page-header.tsx';
import { Failure } from '../../../shared/service/failure.tsx';
import { service } from '../../../shared/service/service.ts';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { TimeForm } from './time-form.tsx';

/** The time zone and the formats of times, for all users. */
export function SettingsPage() {
  const { t } = useTranslation('administration');
  const { data, error, refetch } = useQuery(service.system.timezone.getTimezoneSettings.queryOptions());
  return (
    <>
      <PageHeader title={t('settings.title')} />
      <div className="min-h-0 grow overflow-y-auto px-4 py-3">
        {error && !data && <Failure error={error} onRetry={() => void refetch()} />}
        {!data && !error && <Skeleton rows={6} />}
        {data && <TimeForm settings={data} />}
      </div>
    </>
  );
}
