import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { PageHeader } from '../../../shared/page/page-header.tsx';
import { Failure } from '../../../shared/service/failure.tsx';
import { service } from '../../../shared/service/service.ts';
import { Moment } from '../../../shared/time/moment.tsx';
import { Button } from '../../../ui/button.tsx';
import { Empty } from '../../../ui/empty.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { FindingList, FoundFine } from './finding-list.tsx';

/** The findings of `gantry doctor`: what is wrong with the installation, and how to correct it. */
export function DoctorPage() {
  const { t, i18n } = useTranslation('administration');
  const { data, error, isFetching, dataUpdatedAt, refetch } = useQuery({
    ...service.system.doctor.queryOptions(),
    // The check examines the whole installation, so it is not repeated on each window focus.
    refetchOnWindowFocus: false,
  });
  const of = (wanted: string) => data?.findings.filter(({ level }) => level === wanted) ?? [];
  const [problems, advice, fine] = [of('PROBLEM'), of('ADVICE'), of('OK')];
  return (
    <>
      <PageHeader
        title={t('doctor.title')}
        note={
          data && (
            <>
              {t('doctor.asOf')} <Moment at={new Date(dataUpdatedAt)} />
            </>
          )
        }
      >
        <Button icon="refresh" disabled={isFetching} onClick={() => void refetch()}>
          {t(isFetching ? 'doctor.checking' : 'doctor.again')}
        </Button>
      </PageHeader>
      <div className="min-h-0 grow overflow-y-auto px-4 py-3">
        <div className="flex max-w-4xl flex-col gap-3">
          <p className="text-muted">{t('doctor.text')}</p>
          {error && <Failure error={error} onRetry={() => void refetch()} />}
          {!data && !error && <Skeleton rows={6} />}
          {data && problems.length + advice.length === 0 && (
            <Empty icon="good" title={t('doctor.none')}>
              {t('doctor.noneText', { count: fine.length, n: fine.length.toLocaleString(i18n.language) })}
            </Empty>
          )}
          {problems.length > 0 && <FindingList level="PROBLEM" findings={problems} />}
          {advice.length > 0 && <FindingList level="ADVICE" findings={advice} />}
          {fine.length > 0 && <FoundFine findings={fine} />}
        </div>
      </div>
    </>
  );
}
