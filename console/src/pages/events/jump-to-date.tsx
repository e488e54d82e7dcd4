import { useTranslation } from 'react-i18next';
import type { FilterValues } from '../../shared/filters/filter.ts';
import { DateField } from '../../shared/form/date-field.tsx';
import { FIRST_DAY } from '../../shared/range/days.ts';
import { useServiceTime } from '../../shared/time/use-time.ts';
import type { EventFilters } from './search.ts';

interface JumpToDateProps {
  readonly input: EventFilters;
  readonly onChange: (values: FilterValues) => void;
}

/** Jumps to a day: the list then starts with the newest events of that day, followed by older ones. */
export function JumpToDate({ input, onChange }: JumpToDateProps) {
  const { t } = useTranslation('events');
  // Days are in the service's time zone, even if the user displays times in UTC.
  const time = useServiceTime();
  const jump = (day: string) => {
    if (!day) return onChange({ endDate: undefined });
    const { startDate } = input;
    onChange({
      endDate: day,
      sortBy: undefined,
      sortOrder: undefined,
      // A start date after the new end date is removed; otherwise the range would be empty.
      ...(startDate !== undefined && startDate.slice(0, 10) > day && { startDate: undefined }),
    });
  };
  return (
    <DateField
      label={t('jump')}
      isBeside
      value={input.endDate?.slice(0, 10) ?? ''}
      min={FIRST_DAY}
      max={time.isoDay(new Date())}
      onChange={jump}
      className="w-40"
    />
  );
}
