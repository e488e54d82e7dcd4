/** What the test file of this worker has started or created for all of its tests. */
export const fileServices = new Set<AsyncDisposable>();

/** Stops all of them. */
export const stopFileServices = async (): Promise<void> => {
  const services = [...fileServices];
  fileServices.clear();
  await Promise.all(services.map((service) => service[Symbol.asyncDispose]()));
};
