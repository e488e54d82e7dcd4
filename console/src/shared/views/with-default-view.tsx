import { useSearch } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { Skeleton } from '../../ui/skeleton.tsx';
import { useShowView, useViews } from './use-views.ts';

/**
 * How long to wait for the default view to appear in the URL, in milliseconds. If the page understands none of the
 * parameters of the view, they are dropped and never appear.
 */
const PATIENCE_MS = 1_000;

/** Query parameters that do not prevent the default view: the wall display, and which of two lists a page shows. */
const FORMS: ReadonlySet<string> = new Set(['kiosk', 'part']);

/** Whether a URL has parameters that take precedence over the default view. */
function asksFor(search: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(search).some(([name, value]) => !FORMS.has(name) && value !== undefined);
}

interface WithDefaultViewProps {
  readonly page: string;
  /** The page, which requests its lists when it is mounted. */
  readonly children: ReactNode;
}

/**
 * Applies the default view, if there is one and the page was opened without parameters of its own. The page is mounted
 * only after that, so that it does not request another list first.
 */
export function WithDefaultView({ page, children }: WithDefaultViewProps) {
  const search = useSearch({ strict: false });
  const isAsked = asksFor(search);
  const [isStarting, setStarting] = useState(!isAsked);
  const { views, defaultId, isPending } = useViews(page);
  const show = useShowView();
  const view = views.find(({ id }) => id === defaultId);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the view is applied once
  useEffect(() => {
    if (!isStarting || isPending) return;
    if (isAsked || !view?.search) return setStarting(false);
    show(view, true);
    const timer = setTimeout(() => setStarting(false), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, [isStarting, isPending, isAsked, view]);
  return isStarting ? <Skeleton rows={8} /> : children;
}
