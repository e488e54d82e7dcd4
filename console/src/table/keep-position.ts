import { useRouter } from '@tanstack/react-router';
import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react';

/** How far the list was scrolled, by entry of the history of the browser. */
const positions = new Map<string, number>();

/**
 * Has a list where it was when the browser comes back to it. A list that a link leads to begins at its top.
 * @param isFilled whether its rows are there
 */
export function useKeptPosition(list: RefObject<HTMLElement | null>, isFilled: boolean): void {
  const { history } = useRouter();
  const entry = useRef(history.location.state.__TSR_key ?? '');
  const isNew = useRef(true);
  useLayoutEffect(() => {
    if (!isFilled || !isNew.current) return;
    isNew.current = false;
    const top = positions.get(entry.current);
    if (top !== undefined) list.current?.scrollTo({ top });
  }, [isFilled, list]);
  useEffect(() => {
    const { pathname } = history.location;
    return history.subscribe(({ location: next }) => {
      positions.set(entry.current, list.current?.scrollTop ?? 0);
      // The list stays where the entry is another one of the same page, such as that of the next row.
      if (next.pathname === pathname) entry.current = next.state.__TSR_key ?? '';
    });
  }, [history, list]);
}
