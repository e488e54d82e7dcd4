import { useRouter } from '@tanstack/react-router';
import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react';

/** The scroll position of the list, by history entry of the browser. */
const positions = new Map<string, number>();

/**
 * Restores the scroll position of a list when the user returns to its history entry. A list opened by a link starts at
 * the top.
 * @param isFilled whether the rows are loaded
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
      // The list stays mounted if the new entry is of the same page, for example with another row open.
      if (next.pathname === pathname) entry.current = next.state.__TSR_key ?? '';
    });
  }, [history, list]);
}
