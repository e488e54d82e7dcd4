import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { addressOf } from '../../service/address.ts';
import { fetchFile } from '../../service/files.ts';
import { service } from '../../service/service.ts';

/** A picture that the service keeps. Others are addresses at foreign hosts, to which the console sends nothing. */
export function isKept(reference: string): boolean {
  return reference.startsWith('/images/');
}

function pictureOf(reference: string) {
  return queryOptions({
    queryKey: ['picture', reference],
    queryFn: ({ signal }) => fetchFile(addressOf(reference), signal),
    // Its address is the sum of its content, so it never changes.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  });
}

/** A picture of the service, as an address for an `img`. Its own address needs the token, which an `img` cannot send. */
export function usePicture(reference: string) {
  const { data, error, refetch } = useQuery(pictureOf(reference));
  const [address, setAddress] = useState<string | null>(null);
  useEffect(() => {
    if (!data) return setAddress(null);
    const made = URL.createObjectURL(data);
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [data]);
  return { address, error, refetch: () => void refetch() };
}

/** Reads an event and its first picture before somebody opens it. */
export async function prefetchEvent(client: QueryClient, id: string): Promise<void> {
  const event = await client.fetchQuery({
    ...service.events.getById.queryOptions({ id }),
    staleTime: 60_000,
  });
  const first = event.images.find(isKept);
  if (first) await client.prefetchQuery(pictureOf(first));
}
