import type { Finding } from '@gantry/contract/doctor';
import type { Config } from '../platform/config.ts';
import { advice, fine, problem } from './findings.ts';

const LOOPBACK = /^(localhost|127\.|::1$)/;

/** What is wrong with the settings, above all for production. */
export function examineSettings(config: Config): Finding[] {
  const isProduction = config.NODE_ENV === 'production';
  const isReachable = !LOOPBACK.test(config.HOST);
  const found: Finding[] = [];
  const say = (isSo: boolean, finding: Finding): void => {
    if (isSo) found.push(finding);
  };
  say(
    config.ALLOW_UNSAFE_DATABASE,
    problem(
      'settings',
      'ALLOW_UNSAFE_DATABASE=true accepts a database server that can lose acknowledged events.',
      'Remove ALLOW_UNSAFE_DATABASE, and switch fsync, synchronous_commit and full_page_writes on.',
    ),
  );
  say(
    config.PUBLIC_SENSOR_KEYS,
    (isProduction ? problem : advice)(
      'settings',
      'PUBLIC_SENSOR_KEYS=true shows the API keys of all sensors to everybody who can reach the service.',
      'Remove PUBLIC_SENSOR_KEYS, and rotate the keys that were visible.',
    ),
  );
  say(
    config.PUBLIC_SENSORS && isProduction,
    advice(
      'settings',
      'Everybody who can reach the service sees the lists of sensors, without a token.',
      'Set PUBLIC_SENSORS=false, unless these lists are meant to be public.',
    ),
  );
  say(
    isReachable && !isProduction,
    advice(
      'settings',
      `The service listens on ${config.HOST}, and NODE_ENV is ${config.NODE_ENV}.`,
      'Set NODE_ENV=production, which is stricter about secrets, unless this is a trial.',
    ),
  );
  say(
    isReachable && config.TRUSTED_PROXIES.length === 0,
    advice(
      'settings',
      `The service listens on ${config.HOST} without TLS, and no proxy is named in TRUSTED_PROXIES.`,
      'Put a reverse proxy with TLS in front, let the service listen on 127.0.0.1 or a private network, and set TRUSTED_PROXIES to the address of the proxy.',
    ),
  );
  say(
    isProduction && config.PREVIEW_ORIGINS.length > 0,
    advice(
      'settings',
      `Every page under ${config.PREVIEW_ORIGINS.join(', ')} may call the API from a browser (PREVIEW_ORIGINS).`,
      'Remove PREVIEW_ORIGINS in production, and name the web application in WEB_ORIGIN.',
    ),
  );
  say(
    isProduction && config.WEB_ORIGIN?.startsWith('http://') === true,
    advice(
      'settings',
      `WEB_ORIGIN is ${config.WEB_ORIGIN}, so passwords and tokens travel without TLS.`,
      'Serve the web application over https, and change WEB_ORIGIN.',
    ),
  );
  say(
    config.ADMIN_PASSWORD !== undefined,
    advice(
      'secrets',
      'ADMIN_PASSWORD is set, although it is used only once, to create the first administrator.',
      'Remove ADMIN_PASSWORD from .env and the environment.',
    ),
  );
  say(
    config.JWT_SECRET !== undefined && new Set(config.JWT_SECRET).size < 10,
    problem(
      'secrets',
      'JWT_SECRET consists of few different characters, so it can be guessed.',
      'Set it to at least 32 random bytes, for example the output of: openssl rand -base64 48',
    ),
  );
  return found.length > 0 ? found : [fine('settings', 'The settings are suitable.')];
}
