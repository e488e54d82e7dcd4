import { useTranslation } from 'react-i18next';
import { type DayRange, daysIn } from '../../../../shared/range/days.ts';
import { useServiceTime } from '../../../../shared/time/use-time.ts';
import { classes } from '../../../../ui/classes.ts';
import type { CountPartName, TurningPeak } from './figures.ts';

interface PartSwitchProps {
  readonly part: CountPartName;
  readonly parts: readonly CountPartName[];
  readonly days: DayRange;
  readonly day: string;
  readonly peaks: readonly TurningPeak[];
  readonly choosePart: (part: CountPartName) => void;
}

/** Chooses what is drawn: a peak hour, the day, or the whole period if it has several days. */
export function PartSwitch({ part, parts, days, day, peaks, choosePart }: PartSwitchProps) {
  const { t } = useTranslation('studies');
  const textOf = usePartText(peaks, days, day);
  return (
    <fieldset className="flex max-w-full flex-wrap gap-1">
      <legend className="sr-only">{t('intersection.part')}</legend>
      {parts.map((each) => (
        <button
          key={each}
          type="button"
          aria-pressed={each === part}
          onClick={() => choosePart(each)}
          className={classes(
            'min-h-8 rounded-md border border-line-strong px-3 pointer-coarse:min-h-11',
            each === part ? 'bg-selected font-medium' : 'bg-raised hover:bg-hover print:hidden',
          )}
        >
          {textOf(each)}
        </button>
      ))}
    </fieldset>
  );
}

/** Names a part of a count, such as `AM 08:00–09:00`. */
export function usePartText(peaks: readonly TurningPeak[], days: DayRange, day: string) {
  const { t } = useTranslation('studies');
  const time = useServiceTime();
  return (part: CountPartName): string => {
    if (part === 'total') return t('intersection.parts.total', { day: `\u2066${time.day(day)}\u2069` });
    if (part === 'period') return t('intersection.parts.period', { count: daysIn(days) });
    const { start, end } = peaks.find(({ window }) => window === part) ?? {};
    const name = t(`intersection.parts.${part}`);
    return start && end ? `${name} \u2066${time.minute(start)}–${time.minute(end)}\u2069` : name;
  };
}
