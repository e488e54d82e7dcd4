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
