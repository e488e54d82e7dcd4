import { classes } from '../ui/classes.ts';
import { useNow, useTime } from './use-time.ts';

interface MomentProps {
  readonly at: Date;
  /** `ago` says how long since, and the moment in its title. */
  readonly as?: 'dateTime' | 'time' | 'date' | 'ago';
  readonly className?: string;
}

const AGO_MS = 10_000;

/** A moment in the user's zone; its title has the offset. Times run from left to right in every language. */
export function Moment({ at, as = 'dateTime', className }: MomentProps) {
  const time = useTime();
  // It has the words written anew; they are of the time at which they are written, so that what has just happened is past.
  useNow(as === 'ago' ? AGO_MS : 3_600_000);
  const full = `${time.dateTime(at)} ${time.offset(at)}`;
  return (
    <time
      dateTime={at.toISOString()}
      title={full}
      dir={as === 'ago' ? undefined : 'ltr'}
      className={classes('figures whitespace-nowrap', as === 'ago' && 'relative', className)}
    >
      {as === 'ago' ? time.ago(at) : time[as](at)}
      {as === 'ago' && <span className="sr-only"> ({full})</span>}
    </time>
  );
}
