import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';

/** Nobody sees a change that is over before this, in milliseconds. */
const PATIENCE_MS = 200;

/** Whether something has been so for 200 ms, so that what is fast does not flash. */
export function useLasting(is: boolean): boolean {
  const [lasting, setLasting] = useState(false);
  useEffect(() => {
    if (!is) return setLasting(false);
    const timer = setTimeout(() => setLasting(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, [is]);
  return is && lasting;
}

interface SkeletonProps {
  /** Rows of the final shape. */
  readonly rows: number;
  /** Height of a row, as a class. */
  readonly height?: string;
}

/** The shape of rows that are on their way, after 200 ms. */
export function Skeleton({ rows, height = 'h-9' }: SkeletonProps) {
  const { t } = useTranslation('common');
  const shown = useLasting(true);
  return (
    <div role="status" aria-label={t('loading')} className="flex flex-col">
      {shown &&
        Array.from({ length: rows }, (_, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: all rows are the same
          <div key={at} className={`flex items-center border-b px-2 ${height}`}>
            <div className="h-3 w-full animate-pulse rounded bg-hover" />
          </div>
        ))}
    </div>
  );
}

/** A thin bar over what is shown while newer data is on its way. */
export function ThinBar({ active }: { readonly active: boolean }) {
  const shown = useLasting(active);
  return (
    <div className="h-0.5 overflow-hidden" aria-hidden="true">
      {shown && <div className="h-full w-1/3 animate-[pulse_1s_infinite] bg-accent" />}
    </div>
  );
}
