/** Whether it is an operating system error with one of these codes, such as `ENOENT`. */
export function hasErrno(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}

/** The promise's value, or undefined if it fails with one of these codes. Other errors are thrown. */
export async function ignoreErrno<T>(promise: Promise<T>, ...codes: string[]): Promise<T | undefined> {
  try {
    return await promise;
  } catch (error) {
    if (hasErrno(error, ...codes)) return undefined;
    throw error;
  }
}
