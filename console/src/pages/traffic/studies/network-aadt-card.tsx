import type { AnnualInput, NetworkAadt } from '@gantry/contract/figures';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { CardFrame } from '../../../shared/chart/card-frame.tsx';
import { useZoneNote } from '../../../shared/chart/use-zone-note.ts';
import type { ChartTable } from '../../../shared/csv/csv.ts';
import { service } from '../../../shared/service/service.ts';
import { ScrolledTable } from '../../../ui/scrolled-table.tsx';
import { Reason } from './reasons.tsx';
import { Loaded } from './states.tsx';
import { useNumbers } from './use-numbers.ts';

/** The most locations that are listed at once. */
const TAKE = 1_000;

type LocationOfNetwork = NetworkAadt['locations'][number];

/** The annual averages of all locations, the largest first. */
export function NetworkAadtCard(input: Pick<AnnualInput, 'year' | 'method' | 'allowMissing'>) {
  const { t } = useTranslation('studies');
  const query = useQuery({
    ...service.traffic.getNetworkAadt.queryOptions({ ...input, take: TAKE }),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
  return (
    <Loaded queries={[query]}>
      {() =>
        query.data && (
          <Network
            network={query.data}
            allowMissing={input.allowMissing}
            label={t('annual.network', input)}
          />
        )
      }
    </Loaded>
  );
}

interface NetworkProps extends Pick<AnnualInput, 'allowMissing'> {
  readonly network: NetworkAadt;
  readonly label: string;
}

function Network({ network, allowMissing, label }: NetworkProps) {
  const { t } = useTranslation('studies');
  const { number } = useNumbers();
  const { locations, total, pending, method, year } = network;
  const zone = useZoneNote(new Date(Date.UTC(year, 0, 1, 12)), new Date(Date.UTC(year, 11, 31, 12)));
  const table = useMemo<ChartTable>(
    () => ({
      columns: [
        { header: t('annual.location'), kind: 'text' },
        { header: 'AADT', kind: 'number', unit: t('units.perDay') },
        { header: t('daily.exact'), kind: 'number', unit: t('units.perDay'), digits: 3 },
        { header: t(method === 'SIMPLE' ? 'annual.days' : 'annual.monthsKnown'), kind: 'number' },
        { header: t('annual.statusColumn'), kind: 'text' },
      ],
      rows: locations.map(({ locationName, published, value, n, status }) => [
        locationName,
        published,
        value,
        n,
        t(`status.${status}`),
      ]),
    }),
    [locations, method, t],
  );
  return (
    <CardFrame
      {...{ title: label, table, zone }}
      subject={t('quality.network')}
      n={t('annual.nLocations', { count: total })}
    >
      {locations.length === 0 ? (
        <p className="text-muted">{t('annual.noLocation', { year })}</p>
      ) : (
        <ScrolledTable
          label={label}
          className="max-h-144"
          head="bg-surface"
          columns={[
            {
              header: t('annual.location'),
              className: 'border-b',
              cell: ({ locationId, locationName }: LocationOfNetwork) => (
                <Link
                  to="/traffic/annual"
                  search={{ locationId, year, method, ...(allowMissing === 1 && { allowMissing }) }}
                  className="hover:underline"
                >
                  <bdi>{locationName}</bdi>
                </Link>
              ),
            },
            {
              header: 'AADT',
              className: 'border-b text-end figures',
              cell: ({ published }) => number(published),
            },
            {
              header: t(method === 'SIMPLE' ? 'annual.days' : 'annual.monthsKnown'),
              className: 'border-b text-end figures',
              cell: ({ n }) => number(n),
            },
            {
              header: t('annual.statusColumn'),
              className: 'border-b',
              cell: ({ status, reason }) => (
                <>
                  {t(`status.${status}`)}
                  {reason !== null && (
                    <span className="block text-sm text-muted">
                      <Reason text={reason} />
                    </span>
                  )}
                </>
              ),
            },
          ]}
          rows={locations}
          keyOf={({ locationId }) => locationId}
        />
      )}
      {total > locations.length && (
        <p className="text-sm text-muted">{t('quality.firstOf', { count: locations.length })}</p>
      )}
      {pending > 0 && <p className="text-sm text-muted">{t('annual.pending', { count: pending })}</p>}
    </CardFrame>
  );
}
