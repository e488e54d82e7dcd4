import { classes } from '../../ui/classes.ts';
import { useNow, useTime } from './use-time.ts';

interface MomentProps {
  readonly at: Date;
  /** `ago` shows the time elapsed; the date and time are in the tooltip and for screen readers. */
  readonly as?: 'dateTime' | 'time' | 'date' | 'ago';
  readonly className?: string;
}

const AGO_MS = 10_000;

/** A time in the chosen time zone, with its UTC offset in the tooltip. All but `ago` read from left to right. */
export function Moment({ at, as = 'dateTime', className }: MomentProps) {
  const time = useTime();
  // Only triggers rerenders. The text is computed with the current time, because the value of the hook can be 10 s old
  // and would place a recent event in the future.
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

const DAY = /(\d{1,4}[-./]\d{1,2}[-./]\d{1,4})/;

/** Renders a text in which dates such as 2026-11-17 and 17/11/2026 do not wrap. */
export function UnbrokenDays({ text }: { readonly text: string }) {
  return text.split(DAY).map((part, at) =>
    at % 2 === 0 ? (
      part
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text are never reordered
      <span key={at} className="whitespace-nowrap">
        {part}
      </span>
    ),
  );
}
