import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';

/** Loading states that end within this time are not shown, in milliseconds. */
const PATIENCE_MS = 200;

/** Whether a condition has held for 200 ms, so that short loading states do not flicker. */
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
  readonly rows: number;
  /** The height class of a row. */
  readonly height?: string;
}

/** Placeholder rows, shown if loading takes longer than 200 ms. */
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

/** A thin bar above the content while it is refetched, shown after 200 ms. */
export function ThinBar({ active }: { readonly active: boolean }) {
  const shown = useLasting(active);
  return (
    <div className="h-0.5 overflow-hidden" aria-hidden="true">
      {shown && <div className="h-full w-1/3 animate-[pulse_1s_infinite] bg-accent" />}
    </div>
  );
}
