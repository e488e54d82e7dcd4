import { useQuery } from '@tanstack/react-query';
import { service } from '../../../shared/service/service.ts';

/** The formats in which devices report, with their labels. Never stale, because they change only with the service. */
export function useFormats() {
  const { data } = useQuery({
    ...service.connections.getFormats.queryOptions(),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const formats = data?.formats ?? [];
  return {
    formats,
    labelOf: (name: string) => formats.find((format) => format.name === name)?.label ?? name,
  };
}
