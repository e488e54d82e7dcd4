/** URL of the service: the origin of the page, unless the console was built for another service (`GANTRY_API`). */
export const serviceAddress: string = import.meta.env.GANTRY_API || location.origin;

/** The URL of a resource that the service names by its path, such as a picture or a report file. */
export function addressOf(path: string): string {
  return new URL(path, serviceAddress).href;
}
