import type { CreateViewInput, SavedView, UpdateViewInput } from '@gantry/contract/views';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { api, service } from '../service/service.ts';

/** Query parameters that are not saved in a view: the object that is open or selected, and the wall display. */
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

/** The query string without the parameters that are not saved in a view. */
export function viewOf(search: string): string {
  const kept = [...new URLSearchParams(search)].filter(([name]) => !MOMENTARY.has(name));
  return new URLSearchParams(kept).toString();
}

/** The saved views of a page, and the mutations for them. */
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
    /** Whether the views are still loading. False once the first request has failed, even while it is retried. */
    isPending: data === undefined && failureCount === 0,
    reload,
    create,
    update,
    remove,
    setDefault,
  };
}

/** @returns a function that applies a view to the current page; `replace` replaces the current history entry */
export function useShowView(): (view: Pick<SavedView, 'search'>, replace?: boolean) => void {
  const { history } = useRouter();
  return ({ search }, replace = false) => {
    const address = `${history.location.pathname}${search ? `?${search.replace(/^\?/, '')}` : ''}`;
    if (replace) history.replace(address);
    else history.push(address);
  };
}
