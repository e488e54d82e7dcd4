import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { isKept, usePicture } from '../../shared/events/use-picture.ts';
import { service } from '../../shared/service/service.ts';

/** A thumbnail of the first stored picture of an event; renders nothing if there is none. */
export function EventPicture({ id }: { readonly id: string }) {
  const { data } = useQuery({ ...service.events.getById.queryOptions({ id }), staleTime: 300_000 });
  const first = data?.images.find(isKept);
  return first === undefined ? null : <Thumbnail reference={first} />;
}

function Thumbnail({ reference }: { readonly reference: string }) {
  const { t } = useTranslation('incidents');
  const { address } = usePicture(reference);
  return (
    <span className="h-12 w-16 shrink-0 overflow-hidden rounded bg-hover">
      {address !== null && (
        <img src={address} alt={t('attached.picture')} className="h-full w-full object-cover" />
      )}
    </span>
  );
}
