import { type RegisteredRouter, useNavigate } from '@tanstack/react-router';

/**
 * Changes the query parameters of a page with a list, one of which has the id of the object in the pane next to it. Only
 * opening the pane adds an entry to the history, because on a phone the pane covers the list, and Back closes it.
 * @param from the path of the page
 * @param name the query parameter with the id
 * @param openId the id of the object that the pane shows now; undefined if the pane is closed
 */
export function usePane(
  from: keyof RegisteredRouter['routesByPath'],
  name: string,
  openId: string | undefined,
) {
  const navigate = useNavigate({ from });
  const change = (values: Readonly<Record<string, unknown>>) =>
    void navigate({
      search: (all: object) => ({ ...all, ...values }),
      replace: openId !== undefined || values[name] === undefined,
    });
  return {
    change,
    open: ({ id }: { readonly id: string }) => change({ [name]: id }),
    close: () => change({ [name]: undefined }),
    /** Removes all query parameters. */
    clear: () => void navigate({ search: {} }),
  };
}
