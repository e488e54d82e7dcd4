import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { addressOf, fetchFile } from '../service/files.ts';
import { service } from '../service/service.ts';

/** Whether the service stores the image. Others are URLs of other hosts, to which the console sends no requests. */
export function isKept(reference: string): boolean {
  return reference.startsWith('/images/');
}

function imageOf(reference: string) {
  return queryOptions({
    queryKey: ['image', reference],
    queryFn: ({ signal }) => fetchFile(addressOf(reference), signal),
    // The URL contains the SHA-256 hash of the content, so the response never changes.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  });
}

/** Loads a stored image as an object URL for an `img`, which cannot send the token that its own URL requires. */
export function useImage(reference: string) {
  const { data, error, refetch } = useQuery(imageOf(reference));
  const [address, setAddress] = useState<string | null>(null);
  useEffect(() => {
    if (!data) return setAddress(null);
    const made = URL.createObjectURL(data);
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [data]);
  return { address, blob: data, error, refetch: () => void refetch() };
}

/** Prefetches an event and its first stored image. */
export async function prefetchEvent(client: QueryClient, id: string): Promise<void> {
  const event = await client.fetchQuery({
    ...service.events.getById.queryOptions({ id }),
    staleTime: 60_000,
  });
  const first = event.images.find(isKept);
  if (first) await client.prefetchQuery(imageOf(first));
}
