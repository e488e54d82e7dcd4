import { caseFold } from '@gantry/contract/case-fold';
import { api } from '../service/service.ts';

const TAKE = 20;

/** Finds sensors by a part of their name, for the filters and fields whose value is the id of a sensor. */
export const sensorLookUp = {
  find: async (search: string) => {
    const { sensors } = await api.sensors.getAll.query({
      search,
      take: TAKE,
      sortBy: 'name',
      sortOrder: 'asc',
    });
    return sensors.map(({ id, name }) => ({ value: id, label: name }));
  },
  nameOf: async (id: string) => (await api.sensors.getById.query({ id })).name,
};

/** Finds locations by a part of their name, for the filters and fields whose value is the id of a location. */
export const locationLookUp = {
  find: async (search: string) => {
    const { locations } = await api.locations.getAll.query({ search, take: TAKE });
    return locations.map(({ id, name }) => ({ value: id, label: name }));
  },
  nameOf: async (id: string) => (await api.locations.getById.query({ id })).name,
};

/** A value that is its own label, as an option. */
export const optionOf = (value: string) => ({ value, label: value });

/** The options whose label contains a part, without regard to case. */
export function containing<Option extends { readonly label: string }>(
  options: readonly Option[],
  part: string,
): Option[] {
  return options.filter(({ label }) => caseFold(label).includes(caseFold(part)));
}

/** Finds roads by a part of their name, which is the value. */
export const roadLookUp = {
  find: async (part: string) =>
    containing(
      (await api.locations.getRoads.query()).map(({ road }) => optionOf(road)),
      part,
    ),
  nameOf: async (road: string) => road,
};

/** Finds tags of sensors by a part of them. */
export const tagLookUp = {
  find: async (part: string) =>
    containing(
      (await api.sensors.getTags.query()).map(({ tag }) => optionOf(tag)),
      part,
    ),
  nameOf: async (tag: string) => tag,
};

/** Finds incidents by a part of their title or description, the newest first. */
export const incidentLookUp = {
  find: async (search: string) => {
    const { incidents } = await api.incidents.getAll.query({ search, take: TAKE });
    return incidents.map(({ id, title }) => ({ value: id, label: title }));
  },
  nameOf: async (id: string) => (await api.incidents.getById.query({ id })).title,
};
