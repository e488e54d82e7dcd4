import type { eventFilters } from '@gantry/contract/event-filters';
import { directions, relativeDirections, severities } from '@gantry/contract/values';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Filter } from '../filters/filter.ts';
import { roadLookUp, tagLookUp } from '../places/look-ups.ts';
import { weekdaysFrom } from '../time/format.ts';
import { useTimeSettings } from '../time/zone.ts';
import { useCodeNames } from './codes.ts';

/** The names of the filters by what was read of an event, and by its place and time. */
const names = [
  'severities',
  'minSpeed',
  'maxSpeed',
  'minExcess',
  'hours',
  'weekdays',
  'sensorTags',
  'road',
  'fromKilometre',
  'toKilometre',
  'plateRegion',
  'minConfidence',
  'lane',
  'direction',
] as const satisfies readonly (keyof typeof eventFilters)[];
export type ReadFilterName = (typeof names)[number];

const HOURS = Array.from({ length: 24 }, (_, hour) => ({
  value: String(hour),
  label: `${String(hour).padStart(2, '0')}:00`,
}));

/** These filters, for the list of events and for reports. */
export function useReadFilters(): Readonly<Record<ReadFilterName, Filter>> {
  const { t, i18n } = useTranslation(['events', 'common']);
  const { direction } = useCodeNames();
  const { firstDayOfWeek } = useTimeSettings();
  return useMemo(() => {
    const named = <Name extends ReadFilterName>(name: Name) => ({ name, label: t(`events:filters.${name}`) });
    const number = (name: ReadFilterName, min: number, max: number, isFractional = false): Filter => ({
      kind: 'number',
      ...named(name),
      min,
      max,
      isFractional,
    });
    return {
      severities: {
        kind: 'choices',
        ...named('severities'),
        options: severities.map((value) => ({ value, label: t(`common:severity.${value}`) })),
      },
      minSpeed: number('minSpeed', 0, 2000, true),
      maxSpeed: number('maxSpeed', 0, 2000, true),
      minExcess: number('minExcess', 0, 2000, true),
      hours: { kind: 'choices', ...named('hours'), options: HOURS, isNumeric: true },
      weekdays: {
        kind: 'choices',
        ...named('weekdays'),
        options: weekdaysFrom(firstDayOfWeek, i18n.language).map(({ weekday, name }) => ({
          value: String(weekday),
          label: name,
        })),
        isNumeric: true,
      },
      sensorTags: { kind: 'lookUp', ...named('sensorTags'), ...tagLookUp, isList: true },
      road: { kind: 'lookUp', ...named('road'), ...roadLookUp },
      fromKilometre: number('fromKilometre', -99_999, 99_999, true),
      toKilometre: number('toKilometre', -99_999, 99_999, true),
      plateRegion: {
        kind: 'text',
        ...named('plateRegion'),
        hint: t('events:filters.regionHint'),
        onEnter: true,
      },
      minConfidence: number('minConfidence', 0, 100),
      lane: { kind: 'text', ...named('lane') },
      direction: {
        kind: 'choice',
        ...named('direction'),
        options: [...directions, ...relativeDirections].map((value) => ({ value, label: direction(value) })),
      },
    };
  }, [t, i18n.language, direction, firstDayOfWeek]);
}
