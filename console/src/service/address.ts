/** Where the service is: where the page came from, unless it was built for a service elsewhere. */
export const serviceAddress: string = import.meta.env.GANTRY_API || location.origin;

/** The address of something that the service names by its path, such as a picture or the file of a report. */
export function addressOf(path: string): string {
  return new URL(path, serviceAddress).href;
}
