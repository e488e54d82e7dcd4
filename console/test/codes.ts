import { TOTP } from 'otpauth';

/** The code of a second factor in the current time step, or `step` steps later. The service accepts each code once. */
export const codeOf = (secret: string, step = 0): string =>
  new TOTP({ secret, digits: 6, period: 30, algorithm: 'SHA1' }).generate({
    timestamp: Date.now() + step * 30_000,
  });
