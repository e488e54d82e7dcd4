import { HOUR_MS } from '@gantry/contract/durations';
import { useQueries, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useAnchored } from '../../ui/anchored.ts';
import { Button } from '../../ui/button.tsx';
import { classes } from '../../ui/classes.ts';
import { Popover } from '../../ui/popover.tsx';
import { useShortcuts } from '../../ui/shortcuts.tsx';
import { CopyButton } from '../notices/copy-button.tsx';
import { useTitle } from '../page/title.ts';
import { rangeOfPreset } from '../range/days.ts';
import { useToday } from '../range/range-picker.tsx';
import { service } from '../service/service.ts';
import { useMay, useUser } from '../session/session.ts';
import { createEnteredTimes } from '../time/entered.ts';
import { useTimeSettings } from '../time/zone.ts';
import { ViewsMenu } from '../views/views-menu.tsx';
import { Chip, nameQuery } from './chip.tsx';
import type { Filter, FilterValues } from './filter.ts';
import { FilterField } from './filter-field.tsx';

/** The values of the filters for the title of the document. It contains no plates, because others may see it. */
function useTitleOfFilters(set: readonly Filter[], values: FilterValues): string {
  const found = useQueries({
    queries: set.map((filter) => ({
      ...(filter.kind === 'lookUp'
        ? nameQuery(filter, String(values[filter.name]))
        : { queryKey: ['filter'] }),
      enabled: filter.kind === 'lookUp',
    })),
    combine: (results) => results.map(({ data }) => data),
  });
  const texts = set.map((filter, at) => {
    const all = [values[filter.name]].flat().map(String);
    if (filter.kind === 'lookUp') return found[at];
    if (filter.kind !== 'choice' && filter.kind !== 'choices') return undefined;
    return filter.options
      .filter(({ value }) => all.includes(value))
      .map(({ label }) => label)
      .join(', ');
  });
  return texts.filter(Boolean).join(', ');
}

interface FilterBarProps {
  /** The name under which views of the page are saved; absent if the page has no views. */
  readonly page?: string;
  readonly filters: readonly Filter[];
  readonly values: FilterValues;
  /** Changes some of the values; undefined removes a filter. */
  readonly onChange: (values: FilterValues) => void;
  /** Further content at the end of the bar, such as the total and the export. */
  readonly children?: ReactNode;
}

/** The filters of a list: a popover with the fields of all filters, and a chip for each that is set. */
export function FilterBar({ page, filters, values, onChange, children }: FilterBarProps) {
  const { t } = useTranslation('common');
  const form = useAnchored();
  const set = filters.filter(({ name }) => values[name] !== undefined);
  useTitle('filter', useTitleOfFilters(set, values));
  const clear = () => onChange(Object.fromEntries(set.map(({ name }) => [name, undefined])));
  useShortcuts([
    { keys: 'f', label: t('filters.open'), scope: 'page', run: () => form.setOpen(true) },
    { keys: 'Escape', label: t('filters.clear'), scope: 'page', run: clear },
  ]);
  return (
    <div
      className={classes(
        'flex shrink-0 flex-wrap items-center gap-2 border-b px-4 py-2',
        set.length === 0 && 'print:hidden',
      )}
    >
      <Popover
        trigger={<Button icon="filter">{t('filters.filter')}</Button>}
        anchored={form}
        label={t('filters.filter')}
        align="start"
        className="grid max-h-(--available-height) w-[min(34rem,calc(100vw-1.5rem))] overflow-y-auto sm:grid-cols-2"
      >
        {filters.map((filter) => (
          <FilterField
            key={filter.name}
            filter={filter}
            value={values[filter.name]}
            onChange={(value) => onChange({ [filter.name]: value })}
          />
        ))}
        {filters.some(({ kind }) => kind === 'moment') && <Periods onChange={onChange} />}
      </Popover>
      {set.map((filter) => (
        <Chip
          key={filter.name}
          filter={filter}
          value={values[filter.name]}
          onRemove={() => onChange({ [filter.name]: undefined })}
        />
      ))}
      {set.length > 0 && (
        <>
          <Button kind="quiet" onClick={clear}>
            {t('filters.clear')}
          </Button>
          <CopyButton label={t('filters.copyLink')} iconOnly text={() => Promise.resolve(location.href)} />
        </>
      )}
      <div className="ms-auto flex flex-wrap items-center gap-2">
        {children}
        {page !== undefined && <ViewsMenu page={page} />}
      </div>
    </div>
  );
}

/** The open shift of the user; undefined if there is none. */
function useOwnShift() {
  const { id } = useUser();
  const { data } = useQuery({
    ...service.shifts.getAll.queryOptions({ state: 'OPEN' }),
    enabled: useMay('manageIncidents'),
  });
  return data?.shifts.find(({ lead, members }) => [lead, ...members].some((each) => each.id === id));
}

const LATEST_HOURS = { lastHour: 1, last8Hours: 8, last24Hours: 24 } as const;

/** Buttons that set the start and the end of the range to a period until now, or to a day of the service's time zone. */
function Periods({ onChange }: Pick<FilterBarProps, 'onChange'>) {
  const { t } = useTranslation('common');
  const settings = useTimeSettings();
  const today = useToday();
  const shift = useOwnShift();
  const since = (time: number) => {
    const { iso } = createEnteredTimes(settings, { withTime: true });
    onChange({ startDate: iso(time), endDate: undefined });
  };
  if (today === null) return null;
  return (
    <fieldset className="flex flex-wrap gap-2 sm:col-span-2">
      <legend className="mb-1 text-sm text-muted">{t('date.presets')}</legend>
      {(['lastHour', 'last8Hours', 'last24Hours'] as const).map((name) => (
        <Button key={name} onClick={() => since(Date.now() - LATEST_HOURS[name] * HOUR_MS)}>
          {t(`date.${name}`)}
        </Button>
      ))}
      {shift && <Button onClick={() => since(shift.startedAt.getTime())}>{t('date.thisShift')}</Button>}
      {(['today', 'yesterday'] as const).map((name) => (
        <Button key={name} onClick={() => onChange({ ...rangeOfPreset(name, today) })}>
          {t(`date.${name}`)}
        </Button>
      ))}
    </fieldset>
  );
}
