import type { DataReview, Outage, QualityFlag } from '@gantry/contract/quality';
import { useTranslation } from 'react-i18next';
import type { ChartTable } from '../../../../shared/csv/csv.ts';
import { useReasonText } from '../reasons.tsx';
import type { QualityDay } from './day-map.tsx';

interface NamedDays {
  readonly name: string;
  readonly days: readonly QualityDay[];
}

/** The days of several places as a table for files. */
export function useDayTable(places: readonly NamedDays[]): ChartTable {
  const { t } = useTranslation('studies');
  return {
    columns: [
      { header: t('place'), kind: 'text' },
      { header: t('file.date'), kind: 'day' },
      { header: t('file.status'), kind: 'text' },
      { header: t('file.coverage'), kind: 'share' },
      { header: t('quality.rules'), kind: 'text' },
    ],
    rows: places.flatMap(({ name, days }) =>
      days.map(({ date, status, coverage, rules }) => [name, date, status, coverage, rules.join(' ')]),
    ),
  };
}

/** Outages as a table for files. */
export function useOutageTable(outages: readonly Outage[]): ChartTable {
  const { t } = useTranslation('studies');
  return {
    columns: [
      { header: t('quality.sensor'), kind: 'text' },
      { header: t('quality.location'), kind: 'text' },
      { header: t('signing.kind'), kind: 'text' },
      { header: t('quality.lastData'), kind: 'moment' },
      { header: t('quality.from'), kind: 'moment' },
      { header: t('quality.until'), kind: 'moment' },
      { header: t('quality.duration'), kind: 'number', unit: 'min' },
      { header: t('quality.missed'), kind: 'number' },
      { header: t('file.status'), kind: 'text' },
    ],
    rows: outages.map((one) => [
      one.sensorName ?? one.sensorId,
      one.locationName,
      one.kind,
      one.lastData,
      one.from,
      one.until,
      one.minutes,
      one.expectedVolume.value,
      one.expectedVolume.status,
    ]),
  };
}

/** Flags as a table for files. */
export function useFlagTable(flags: readonly QualityFlag[]): ChartTable {
  const { t } = useTranslation('studies');
  const reasonText = useReasonText();
  return {
    columns: [
      { header: t('file.start'), kind: 'moment' },
      { header: t('file.end'), kind: 'moment' },
      { header: t('quality.rule'), kind: 'text' },
      { header: t('quality.severity'), kind: 'text' },
      { header: t('quality.value'), kind: 'number', digits: 4 },
      { header: t('quality.threshold'), kind: 'number', digits: 4 },
      { header: t('quality.sensor'), kind: 'text' },
      { header: t('quality.lane'), kind: 'text' },
      { header: t('quality.note'), kind: 'text' },
      { header: t('quality.decision'), kind: 'text' },
    ],
    rows: flags.map((flag) => [
      flag.from,
      flag.until,
      flag.rule,
      flag.severity,
      flag.value,
      flag.threshold,
      flag.sensorName ?? flag.sensorId,
      flag.lane === undefined ? null : String(flag.lane),
      flag.note === null ? null : reasonText(flag.note),
      flag.decision,
    ]),
  };
}

/** Decisions as a table for files. */
export function useDecisionTable(reviews: readonly DataReview[]): ChartTable {
  const { t } = useTranslation('studies');
  return {
    columns: [
      { header: t('file.start'), kind: 'moment' },
      { header: t('file.end'), kind: 'moment' },
      { header: t('quality.decision'), kind: 'text' },
      { header: t('signing.fields.reason'), kind: 'text' },
      { header: t('quality.by'), kind: 'text' },
      { header: t('quality.decidedAt'), kind: 'moment' },
    ],
    rows: reviews.map(({ from, until, decision, reason, by, at }) => [
      from,
      until,
      decision,
      reason,
      by.name,
      at,
    ]),
  };
}
