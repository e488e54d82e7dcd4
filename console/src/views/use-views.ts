import type { CreateViewInput, SavedView, UpdateViewInput } from '@gantry/contract/views';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { api, service } from '../service/service.ts';

/** What an address says for the moment and not for a view: the thing that is open, and the form for the wall. */
const MOMENTARY: ReadonlySet<string> = new Set([
  'alert',
  'entry',
  'event',
  'incident',
  'kiosk',
  'location',
  'open',
  'plate',
  'selected',
  'sensor',
  'user',
]);

/** The parameters of the address that make a view. */
export function viewOf(search: string): string {
  const kept = [...new URLSearchParams(search)].filter(([name]) => !MOMENTARY.has(name));
  return new URLSearchParams(kept).toString();
}

/** The saved views of a page, and what can be done with them. */
export function useViews(page: string) {
  const client = useQueryClient();
  const { data, failureCount } = useQuery({
    ...service.views.getAll.queryOptions({ page }),
    staleTime: 60_000,
  });
  const reload = () => client.invalidateQueries({ queryKey: service.views.pathKey() });
  const create = useMutation({
    mutationFn: (input: Omit<CreateViewInput, 'page'>) => api.views.create.mutate({ page, ...input }),
    onSuccess: reload,
  });
  const update = useMutation({
    mutationFn: (input: UpdateViewInput) => api.views.update.mutate(input),
    onSuccess: reload,
  });
  const remove = useMutation({
    mutationFn: (id: string) => api.views.delete.mutate({ id }),
    onSuccess: reload,
  });
  const setDefault = useMutation({
    mutationFn: (id: string | null) => api.views.setDefault.mutate({ page, id }),
    onSuccess: reload,
  });
  return {
    views: data?.views ?? [],
    defaultId: data?.defaultId ?? null,
    /** Whether they may still come; not once the first call has failed. */
    isPending: data === undefined && failureCount === 0,
    reload,
    create,
    update,
    remove,
    setDefault,
  };
}

/** Shows a view on the page that is open. */
export function useShowView(): (view: Pick<SavedView, 'search'>, replace?: boolean) => void {
  const { history } = useRouter();
  return ({ search }, replace = false) => {
    const address = `${history.location.pathname}${search ? `?${search.replace(/^\?/, '')}` : ''}`;
    if (replace) history.replace(address);
    else history.push(address);
  };
}
