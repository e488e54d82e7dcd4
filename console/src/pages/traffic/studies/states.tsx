import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Failure } from '../../../shared/service/failure.tsx';
import { classes } from '../../../ui/classes.ts';
import { Empty } from '../../../ui/empty.tsx';
import { Skeleton, ThinBar, useLasting } from '../../../ui/skeleton.tsx';

/** Shown until a place is chosen. */
export function ChoosePlace() {
  const { t } = useTranslation('studies');
  return (
    <Empty icon="location" title={t('choosePlace')}>
      {t('choosePlaceText')}
    </Empty>
  );
}

/** What is known of a query, whatever it asks for. */
interface AnyQuery {
  readonly error: unknown;
  readonly isLoading: boolean;
  readonly isFetching: boolean;
  readonly isPlaceholderData: boolean;
  readonly refetch: () => Promise<unknown>;
}

interface LoadedProps {
  readonly queries: readonly AnyQuery[];
  /** Called once all queries that are not disabled have answered. */
  readonly children: () => ReactNode;
}

/** The figures of several queries: a skeleton, an error, or the figures, greyed out while they belong to the former choice. */
export function Loaded({ queries, children }: LoadedProps) {
  const isOutdated = queries.some(({ isPlaceholderData }) => isPlaceholderData);
  const looksOutdated = useLasting(isOutdated);
  const error = queries.find((query) => query.error)?.error;
  const again = () => {
    for (const query of queries) if (query.error) void query.refetch();
  };
  if (error)
    return (
      <div className="p-4">
        <Failure error={error} onRetry={again} />
      </div>
    );
  if (queries.some(({ isLoading }) => isLoading)) return <Skeleton rows={12} />;
  return (
    <>
      <ThinBar active={queries.some(({ isFetching }) => isFetching)} />
      <div inert={isOutdated} className={classes('flex flex-col gap-3 px-4 py-3', looksOutdated && 'stale')}>
        {children()}
      </div>
    </>
  );
}
