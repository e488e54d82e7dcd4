import { Link } from '@tanstack/react-router';

/** The name of a location, as a link to its traffic. The other query parameters, such as the days, are kept. */
export function PlaceLink({ id, name }: { readonly id: string; readonly name: string }) {
  return (
    <Link
      from="/traffic"
      to="/traffic"
      search={(all) => ({ ...all, locationId: id })}
      className="hover:underline"
    >
      <bdi>{name}</bdi>
    </Link>
  );
}
