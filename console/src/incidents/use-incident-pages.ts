import type { Incident } from '@gantry/contract/incidents';
import { api, service } from '../service/service.ts';
import { type Pages, usePages } from '../table/pages.ts';
import type { IncidentsInput } from './use-incidents-search.ts';

/** The incidents of the list, page by page. @param enabled whether they are shown as a list */
export function useIncidentPages(input: IncidentsInput, enabled: boolean): Pages<Incident> {
  return usePages<Incident>({
    queryKey: service.incidents.getAll.queryKey(input),
    load: async (page, signal) => {
      const { incidents, total } = await api.incidents.getAll.query({ ...input, ...page }, { signal });
      return { rows: incidents, total };
    },
    keyOf: ({ id }) => id,
    enabled,
  });
}
