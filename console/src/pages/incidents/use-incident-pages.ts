import type { Incident } from '@gantry/contract/incidents';
import { api, service } from '../../shared/service/service.ts';
import { type Pages, usePages } from '../../shared/table/pages.ts';
import type { IncidentsInput } from './use-incidents-search.ts';

/** The pages of the incident list. @param enabled whether the list is shown; if not, nothing is requested */
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
