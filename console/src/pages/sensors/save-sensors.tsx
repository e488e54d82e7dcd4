import type { ListedSensor } from '@gantry/contract/sensors';
import { useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Filter, FilterValues } from '../../shared/filters/filter.ts';
import { service } from '../../shared/service/service.ts';
import type { ExportColumn } from '../../shared/table/export.ts';
import { ExportButton } from '../../shared/table/export-button.tsx';
import type { Pages } from '../../shared/table/pages.ts';
import { useSensorColumns } from './columns.tsx';

/** How long the locations of all sensors are reused, in milliseconds: an export loads page after page. */
const PLACES_MS = 60_000;

interface SaveSensorsProps {
  readonly pages: Pages<ListedSensor>;
  readonly filters: readonly Filter[];
  readonly values: FilterValues;
}

type PlacedSensor = ListedSensor & { readonly locationName: string | null };

/** The button that exports the list of sensors as CSV, with the location of each. */
export function SaveSensors({ pages, filters, values }: SaveSensorsProps) {
  const { t } = useTranslation('sensors');
  const client = useQueryClient();
  const columns: readonly ExportColumn<PlacedSensor>[] = [
    ...useSensorColumns(),
    { header: t('fields.location'), csv: ({ locationName }) => locationName },
    { header: t('fields.latitude'), csv: ({ coordinates }) => coordinates?.latitude ?? null },
    { header: t('fields.longitude'), csv: ({ coordinates }) => coordinates?.longitude ?? null },
    { header: t('fields.ipAddress'), csv: ({ ipAddress }) => ipAddress },
    { header: t('fields.eventsPerMin'), csv: ({ eventsPerMin }) => eventsPerMin },
    { header: t('fields.createdAt'), csv: ({ createdAt }) => createdAt },
  ];
  const load: Pages<PlacedSensor>['load'] = async (page, signal) => {
    const { rows, total } = await pages.load(page, signal);
    const placed = await client.fetchQuery({
      ...service.sensors.getAllSensors.queryOptions(),
      staleTime: PLACES_MS,
    });
    const nameById = new Map(placed.map(({ id, location }) => [id, location?.name ?? null]));
    return { rows: rows.map((row) => ({ ...row, locationName: nameById.get(row.id) ?? null })), total };
  };
  return <ExportButton title={t('title')} {...{ columns, filters, values }} pages={{ ...pages, load }} />;
}
