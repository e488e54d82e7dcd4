import type { CreateViewInput, SavedView, UpdateViewInput } from '@gantry/contract/views';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { api, service } from '../service/service.ts';

/** What an address says for the moment and not for a view: the thing that is open, and the form for the wall. */
const MOMENTARY: ReadonlySet<string> = new Set(['event', 'kiosk', 'open', 'selected']);

/** The parameters of the address that make a view. */
export function viewOf(search: string): string {
  const kept = [...new URLSearchParams(search)].filter(([name]) => !MOMENTARY.has(name));
  return new URLSearchParams(kept).toString();
}

/** The saved views of a page, and what can be done with them. */
export function useViews(page: string) {
  const client = useQueryClient();
  const { data } = useQuery({ ...service.views.getAll.queryOptions({ page }), staleTime: 60_000 });
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
  return { views: data?.views ?? [], defaultId: data?.defaultId ?? null, create, update, remove, setDefault };
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

/** Begins with the default of everybody when the page was opened without a parameter of its own. */
export function useDefaultView(views: readonly SavedView[], defaultId: string | null): void {
  const { history } = useRouter();
  const show = useShowView();
  const isDecided = useRef(viewOf(history.location.search) !== '');
  const latest = useRef(show);
  latest.current = show;
  useEffect(() => {
    const view = views.find(({ id }) => id === defaultId);
    if (isDecided.current || !view) return;
    isDecided.current = true;
    // The user may have chosen something until the answer was there.
    if (viewOf(history.location.search) === '') latest.current(view, true);
  }, [views, defaultId, history]);
}
