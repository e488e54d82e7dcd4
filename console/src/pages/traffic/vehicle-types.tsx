import type { Flow } from '@gantry/contract/traffic';
import { useCallback } from 'react';
import { useTranslation } from 'react-i18next';
import { ShareTable } from '../../shared/chart/share-table.tsx';
import type { ChartColumn } from '../../shared/csv/csv.ts';
import { useCodeNames } from '../../shared/events/codes.ts';

interface VehicleTypesProps {
  readonly first: Flow;
  readonly second: Flow | null;
  readonly firstName: string;
  readonly secondName: string;
  readonly subject: string;
  readonly from: Date;
  readonly until: Date;
}

/** The table of the volume and the share of each vehicle type. */
export function VehicleTypes({ first, second, firstName, secondName, ...rest }: VehicleTypesProps) {
  const { t } = useTranslation('traffic');
  const vehicles = useVehicles();
  const names = useCodeNames();
  const columnsOf = (name: string): ChartColumn[] => {
    const title = (figure: string) => (second ? `${figure}, ${name}` : figure);
    return [
      { header: title(t('figures.volume')), kind: 'number' },
      { header: title(t('histogram.share')), kind: 'share' },
    ];
  };
  const both = second ? [first, second] : [first];
  const types = [...new Set(both.flatMap(({ byVehicleType }) => byVehicleType.map((of) => of.vehicleType)))];
  const figuresOf = ({ byVehicleType, volume }: Flow, type: string | null) => {
    const count = byVehicleType.find(({ vehicleType }) => vehicleType === type)?.volume ?? 0;
    return [count, volume ? count / volume : null];
  };
  return (
    <ShareTable
      title={t('types.title')}
      n={vehicles(first.volume ?? 0, second?.volume)}
      none={t('empty.none')}
      table={{
        columns: [
          { header: t('types.type'), kind: 'text' },
          ...columnsOf(firstName),
          ...(second ? columnsOf(secondName) : []),
        ],
        rows: types.map((type) => [
          type === null ? t('types.unknown') : names.vehicle(type),
          ...both.flatMap((flow) => figuresOf(flow, type)),
        ]),
      }}
      {...rest}
    />
  );
}

/** Formats a number of vehicles, and that of the comparison, if given: `1,381 vehicles / 1,219 vehicles`. */
export function useVehicles(): (count: number, other?: number | null) => string {
  const { t } = useTranslation('traffic');
  return useCallback(
    (...counts) =>
      counts
        .flatMap((count) => count ?? [])
        .map((count) => t('vehicles', { count }))
        .map((text, _, all) => (all.length > 1 ? `\u2068${text}\u2069` : text))
        .join(' / '),
    [t],
  );
}
