import type { Passwords } from './passwords.ts';
import type { SessionWatch } from './session-watch.ts';
import type { LoginThrottle } from './throttle.ts';
import type { Tokens } from './tokens.ts';

/** What this room adds to the service. */
export interface AuthServices {
  readonly tokens: Tokens;
  readonly passwords: Passwords;
  readonly loginThrottle: LoginThrottle;
  readonly sessionWatch: SessionWatch;
}
