import { useSearch } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { Skeleton } from '../ui/skeleton.tsx';
import { useShowView, useViews } from './use-views.ts';

/** A view whose parameters the page does not understand leaves the address empty; it is not waited for any longer. */
const PATIENCE_MS = 1_000;

/** What an address may have without asking for anything: the form for the wall, and which of two lists a page shows. */
const FORMS: ReadonlySet<string> = new Set(['kiosk', 'part']);

/** Whether an address asks for anything by itself. */
function asksFor(search: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(search).some(([name, value]) => !FORMS.has(name) && value !== undefined);
}

interface WithDefaultViewProps {
  readonly page: string;
  /** The page, which reads its lists when it is shown. */
  readonly children: ReactNode;
}

/**
 * Begins with the default view of everybody where the page was opened without a parameter of its own. The page waits for
 * it, so that no other list is read before.
 */
export function WithDefaultView({ page, children }: WithDefaultViewProps) {
  const search = useSearch({ strict: false });
  const isAsked = asksFor(search);
  const [isStarting, setStarting] = useState(!isAsked);
  const { views, defaultId, isPending } = useViews(page);
  const show = useShowView();
  const view = views.find(({ id }) => id === defaultId);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the view is shown once
  useEffect(() => {
    if (!isStarting || isPending) return;
    if (isAsked || !view?.search) return setStarting(false);
    show(view, true);
    const timer = setTimeout(() => setStarting(false), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, [isStarting, isPending, isAsked, view]);
  return isStarting ? <Skeleton rows={8} /> : children;
}
