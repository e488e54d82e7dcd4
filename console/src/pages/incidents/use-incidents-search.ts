import { useNavigate, useSearch } from '@tanstack/react-router';
import type { FilterValues } from '../../shared/filters/filter.ts';
import type { SearchOf } from '../../shared/url/search.ts';
import type { incidentsSearch } from './search.ts';

/** The query parameters of the page, split into filters and sort order, the cursor, and the form for a new incident. */
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
  // In a link from another page, the filter parameters are initial values of the form and do not filter the list.
  const isFromElsewhere = isNew === 1 && (title ?? latitude ?? longitude ?? eventId) !== undefined;
  const input = isFromElsewhere ? { sortBy, sortOrder } : filters;
  return {
    view: view ?? ('board' as const),
    cursor,
    input: withMutableStatus(input),
    /** The initial values of the form for a new incident; null: the form is closed. */
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

/** Copies `status`, because the client does not accept read-only arrays. */
function withMutableStatus({ status, ...rest }: Filters) {
  return { ...rest, ...(status && { status: [...status] }) };
}
