import { Link } from '@tanstack/react-router';

/** The name of a location, which leads to its traffic on the days that are chosen. */
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
