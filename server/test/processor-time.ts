/**
 * The processor time of `work`, in milliseconds. Unlike the elapsed time, it hardly depends on what else the machine
 * does meanwhile. The other threads of this process count too.
 */
export const processorMs = async (work: () => unknown): Promise<number> => {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
};
