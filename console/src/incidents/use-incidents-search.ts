import { useNavigate, useSearch } from '@tanstack/react-router';
import type { SearchOf } from '../address/search.ts';
import type { FilterValues } from '../filters/filter.ts';
import type { incidentsSearch } from './search.ts';

/** What the address of the page says, taken apart: the filters and the order, the cursor, and the new incident. */
export function useIncidentsSearch() {
  const search = useSearch({ from: '/shell/incidents' });
  const navigate = useNavigate({ from: '/incidents' });
  const {
    view,
    incident: cursor,
    new: isNew,
    title,
    latitude,
    longitude,
    eventId,
    kiosk: _,
    ...filters
  } = search;
  const { sortBy, sortOrder } = filters;
  // From another page the filters' names say what the new incident begins with, and nothing is narrowed by them.
  const isFromElsewhere = isNew === 1 && (title ?? latitude ?? longitude ?? eventId) !== undefined;
  const input = isFromElsewhere ? { sortBy, sortOrder } : filters;
  return {
    view: view ?? ('board' as const),
    cursor,
    input: withMutableStatus(input),
    /** What the new incident begins with; null: nobody enters one. */
    beginning: isNew === 1 ? { ...filters, title, latitude, longitude, eventId } : null,
    change: (values: FilterValues) =>
      void navigate({ search: (all) => ({ ...all, ...values }), replace: true }),
    clear: () => void navigate({ search: { ...(view && { view }) } }),
    closeNew: () =>
      navigate({
        search: isFromElsewhere ? { ...(view && { view }) } : { ...search, new: undefined },
        replace: true,
      }),
    open: (id: string) => void navigate({ to: '/incidents/$incidentId', params: { incidentId: id } }),
  };
}

export type IncidentsInput = ReturnType<typeof useIncidentsSearch>['input'];
export type Beginning = NonNullable<ReturnType<typeof useIncidentsSearch>['beginning']>;

type Filters = Omit<
  SearchOf<typeof incidentsSearch>,
  'view' | 'incident' | 'new' | 'title' | 'latitude' | 'longitude' | 'eventId'
>;

/** The client takes no read-only lists. */
function withMutableStatus({ status, ...rest }: Filters) {
  return { ...rest, ...(status && { status: [...status] }) };
}
