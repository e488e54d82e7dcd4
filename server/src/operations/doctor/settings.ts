import type { Finding } from '@gantry/contract/doctor';
import type { Config } from '../../platform/config.ts';
import { advice, fine, problem } from './findings.ts';

const LOOPBACK = /^(localhost|127\.|::1$)/;

/** What is wrong with the settings, above all for production. */
export function examineSettings(config: Config): Finding[] {
  const { HOST: host, NODE_ENV: mode, JWT_SECRET, PREVIEW_ORIGINS, WEB_ORIGIN } = config;
  const isProduction = mode === 'production';
  const isReachable = !LOOPBACK.test(host);
  const found: Finding[] = [];
  const say = (isSo: boolean, finding: Finding): void => {
    if (isSo) found.push(finding);
  };
  say(config.ALLOW_UNSAFE_DATABASE, problem('unsafeDatabase'));
  say(config.PUBLIC_SENSOR_KEYS, (isProduction ? problem : advice)('publicSensorKeys'));
  say(config.PUBLIC_SENSORS && isProduction, advice('publicSensors'));
  say(isReachable && !isProduction, advice('notProduction', { host, mode }));
  say(isReachable && config.TRUSTED_PROXIES.length === 0, advice('noProxy', { host }));
  say(
    isProduction && PREVIEW_ORIGINS.length > 0,
    advice('previewOrigins', { origins: PREVIEW_ORIGINS.map(String) }),
  );
  say(
    isProduction && WEB_ORIGIN?.startsWith('http://') === true,
    advice('webOriginWithoutTls', { origin: WEB_ORIGIN ?? '' }),
  );
  say(config.ADMIN_PASSWORD !== undefined, advice('adminPasswordSet'));
  say(JWT_SECRET !== undefined && new Set(JWT_SECRET).size < 10, problem('weakJwtSecret'));
  return found.length > 0 ? found : [fine('settingsFine')];
}
