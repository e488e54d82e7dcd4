import { mayDo } from '@gantry/contract/permissions';
import { useQuery } from '@tanstack/react-query';
import { defaultStringifySearch } from '@tanstack/react-router';
import { useDeferredValue } from 'react';
import { useTranslation } from 'react-i18next';
import { useSeesPlates } from '../../shared/service/plates.tsx';
import { service } from '../../shared/service/service.ts';
import { useUser } from '../../shared/session/session.ts';
import { useIncidentTitle } from '../../shared/status/incident-title.ts';
import type { IconName } from '../../ui/icon.tsx';
import { useAllShortcuts } from '../../ui/shortcuts.tsx';
import { usePagesOfUser } from '../shell/pages.ts';

/** A search result. */
export interface Found {
  /** The path of the page that the result opens, with its query string; of a command, its keys. */
  readonly to: string;
  /** What a command does instead of opening a page. */
  readonly run?: () => void;
  readonly label: string;
  readonly note?: string;
  readonly icon: IconName;
}

export interface FoundGroup {
  readonly name:
    | 'pages'
    | 'commands'
    | 'plates'
    | 'watchlist'
    | 'hotlists'
    | 'sensors'
    | 'locations'
    | 'incidents'
    | 'recent';
  readonly items: readonly Found[];
}

/** The maximum number of results of each kind. */
const SHOWN = 6;
/** The minimum number of characters for which the service is queried. */
const MIN_LENGTH = 2;
/** The text of a plate search: letters, digits, spaces, hyphens, invisible characters, and the wildcard `*`. */
const PLATE = /^[\p{L}\p{M}\p{N}\s\p{Pd}\p{Cf}*]{2,20}$/u;

/** The results for a text, grouped by kind. Plates are not looked up until the user opens a result for them. */
export function useResults(text: string): { groups: readonly FoundGroup[]; isSearching: boolean } {
  const { t } = useTranslation('search');
  const titleOf = useIncidentTitle();
  const { t: shell } = useTranslation('shell');
  const { role } = useUser();
  const pages = usePagesOfUser();
  const seesPlates = useSeesPlates();
  const part = useDeferredValue(text.trim());
  const enabled = part.length >= MIN_LENGTH;
  const ask = { search: part, take: SHOWN };
  const isOn = (name: string) => pages.some((page) => page.name === name);
  const options = { enabled, staleTime: 30_000, retry: false };
  const sensors = useQuery({
    ...service.sensors.getAll.queryOptions({ ...ask, sortBy: 'name', sortOrder: 'asc' }),
    ...options,
  });
  const locations = useQuery({
    ...service.locations.getAll.queryOptions(ask),
    ...options,
    enabled: enabled && isOn('locations'),
  });
  const incidents = useQuery({
    ...service.incidents.getAll.queryOptions(ask),
    ...options,
    enabled: enabled && isOn('incidents') && mayDo(role, 'manageIncidents'),
  });
  const faults = useQuery({ ...service.faults.getAll.queryOptions(ask), ...options });
  const watchlist = useQuery({
    ...service.watchlist.getAll.queryOptions(ask),
    ...options,
    // Users who may not see plates may not search for a part of one either.
    enabled: enabled && isOn('watchlist') && seesPlates,
  });
  const hotlists = useQuery({
    ...service.hotlists.getAll.queryOptions(ask),
    ...options,
    enabled: enabled && isOn('watchlist') && mayDo(role, 'manageHotlists'),
  });
  const commands = useAllShortcuts();
  const wanted = part.toLocaleLowerCase();
  const groups: FoundGroup[] = [
    {
      name: 'pages',
      items: pages
        .map(({ to, name, icon }) => ({ to, icon, label: shell(`pages.${name}`) }))
        .filter(({ label }) => part !== '' && label.toLocaleLowerCase().includes(wanted)),
    },
    {
      name: 'commands',
      // Of the keys of one command, the last: the letter rather than the arrow, and the key that every page has.
      items: [...new Map(commands.map((command) => [command.label, command])).values()]
        .filter(({ keys, label }) => !/^(?:g .|\/)$/.test(keys) && label.toLocaleLowerCase().includes(wanted))
        .map(({ keys, label, run }) => ({ to: keys, run, label, note: keys, icon: 'next' as const }))
        .slice(0, SHOWN),
    },
    {
      name: 'watchlist',
      items: (watchlist.data?.entries ?? []).map(({ id, pattern, reason }) => ({
        to: `/watchlist${defaultStringifySearch({ part: 'plates', plate: id })}`,
        label: pattern,
        note: reason,
        icon: 'watchlist',
      })),
    },
    {
      name: 'hotlists',
      items: (hotlists.data?.hotlists ?? []).map(({ id, name, purpose }) => ({
        to: `/hotlists/${id}`,
        label: name,
        ...(purpose !== null && { note: purpose }),
        icon: 'high',
      })),
    },
    {
      name: 'sensors',
      items: [
        ...(sensors.data?.sensors ?? []).map(({ id, name, deviceId }) => ({
          to: `/sensors/${id}`,
          label: name,
          note: deviceId,
          icon: 'sensor' as const,
        })),
        // Their faults, which have the name of the sensor beside them.
        ...(faults.data?.faults ?? []).map(({ id, text, sensor }) => ({
          to: `/sensors/faults${defaultStringifySearch({ fault: id })}`,
          label: text,
          note: sensor.name,
          icon: 'maintenance' as const,
        })),
      ],
    },
    {
      name: 'locations',
      items: (locations.data?.locations ?? []).map(({ id, name, address }) => ({
        to: `/locations/${id}`,
        label: name,
        note: address,
        icon: 'location',
      })),
    },
    {
      name: 'incidents',
      items: (incidents.data?.incidents ?? []).map((incident) => ({
        to: `/incidents/${incident.id}`,
        label: titleOf(incident),
        icon: 'incident',
      })),
    },
  ];
  if (seesPlates && PLATE.test(part)) {
    const listed: Found = {
      to: `/hotlists${defaultStringifySearch({ plate: part.toUpperCase() })}`,
      label: part.toUpperCase(),
      note: t('listed'),
      icon: 'watchlist',
    };
    const looksUp = isOn('watchlist') && mayDo(role, 'manageHotlists') && !part.includes('*');
    const plates: FoundGroup = {
      name: 'plates',
      items: [...platesOf(part, t('recorded')), ...(looksUp ? [listed] : [])],
    };
    // A text with a digit or a wildcard is more likely to be a plate than a part of a name.
    groups.splice(/[\p{N}*]/u.test(part) ? 0 : groups.length, 0, plates);
  }
  // Groups with an exact match of the name or the device id come first.
  const hasName = ({ name, items }: FoundGroup) =>
    name !== 'plates' &&
    items.some(({ label, note }) => [label, note].some((text) => text?.toLocaleLowerCase() === wanted));
  groups.sort((one, other) => Number(hasName(other)) - Number(hasName(one)));
  return {
    groups: groups.filter(({ name, items }) => items.length > 0 && (enabled || name === 'pages')),
    isSearching: [sensors, locations, incidents, faults, watchlist, hotlists].some(
      ({ isFetching }) => isFetching,
    ),
  };
}

function platesOf(part: string, note: string): Found[] {
  const wanted = part.toUpperCase();
  const asked = wanted.includes('*') ? [wanted] : [wanted, `*${wanted}*`];
  return asked.map((plate) => ({
    to: `/events${defaultStringifySearch({ licensePlateNumber: plate })}`,
    label: plate,
    note,
    icon: 'events',
  }));
}
