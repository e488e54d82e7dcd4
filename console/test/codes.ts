import { TOTP } from 'otpauth';

/** The code of a second factor in the present step, or in one after it: the service accepts each once. */
export const codeOf = (secret: string, step = 0): string =>
  new TOTP({ secret, digits: 6, period: 30, algorithm: 'SHA1' }).generate({
    timestamp: Date.now() + step * 30_000,
  });
