import { resolve } from 'node:path';
import proxyAddress from '@fastify/proxy-addr';
import { type Role, role } from '@gantry/contract/permissions';
import { switchableFeatures } from '@gantry/contract/system';
import { sealModes, speedUnitNames } from '@gantry/contract/values';
import { z } from 'zod';
import { addressFlaw } from './database/address.ts';
import { isThisMachine, parseAllowedHost } from './hosts.ts';

const PREVIEW_ORIGIN = /^https?:\/\/\*\.[a-z0-9.-]+(?::\d{1,5})?$/i;

const flag = z
  .enum(['true', 'false'], { error: 'must be true or false' })
  .transform((value) => value === 'true');

/**
 * Every setting, as an environment variable (or a line in `.env`). The descriptions are the source of
 * docs/configuration.md and .env.example.
 */
export const configKeys = {
  HOST: z
    .string()
    .default('127.0.0.1')
    .describe('Address to listen on. `0.0.0.0` listens on every interface.'),
  PORT: number(0, 65_535).default(4000).describe('Port to listen on. `0` takes any free port.'),
  MAX_CONNECTIONS: number(16, 1_000_000)
    .default(10_000)
    .describe(
      'Maximum number of client connections to one process; further ones are closed at once. The limit is lower if the system allows a process fewer open files.',
    ),
  MAX_CONNECTIONS_PER_ADDRESS: number(1, 1_000_000)
    .optional()
    .describe(
      'Maximum number of connections to one process from one IPv4 address, or one network of 64 bits of IPv6; further ones are closed at once. Unset: a quarter of the maximum number of connections. It does not apply to `TRUSTED_PROXIES`. Raise it if many users or devices share an address.',
    ),
  WORKERS: number(1, 64)
    .default(1)
    .describe(
      'Number of processes that share the port and the database. Use about one for every two cores, because PostgreSQL needs the others.',
    ),
  DATA_DIR: z
    .string()
    .default('./data')
    .transform((path) => resolve(path))
    .describe('Folder for the embedded database and the generated secrets. One service owns it at a time.'),
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\/.+/, {
      error: 'must be an address such as postgres://user:password@host:5432/gantry',
      abort: true,
    })
    .refine((url) => addressFlaw(url) === null, { error: ({ input }) => addressFlaw(String(input)) ?? '' })
    .optional()
    .describe(
      'Your own PostgreSQL server (15 to 18), or a primary and its standbys: `postgresql://user@db1,db2:5433/database` ([failover](scaling.md#postgresql-with-replicas)). Unset: the embedded one, which is started automatically.',
    ),
  DATABASE_POOL_SIZE: number(2, 200)
    .default(10)
    .describe(
      'Maximum number of database connections of one process for ordinary work. It opens up to 20 more, for devices, gateways, expensive queries, health checks, reports and messages. Your own server must allow this number for each of the `WORKERS`.',
    ),
  ALLOW_UNSAFE_DATABASE: flag
    .default(false)
    .describe(
      'Whether to start on a database server with `fsync`, `synchronous_commit` or `full_page_writes` off, which can lose acknowledged events. For tests only.',
    ),
  ADMIN_EMAIL: z
    .email('must be an e-mail address')
    .default('admin@gantry.local')
    .describe('E-mail address of the administrator account that is created on the first start.'),
  ADMIN_PASSWORD: z
    .string()
    .min(8, 'must have at least 8 characters')
    .max(200, 'must have at most 200 characters')
    .optional()
    .describe(
      'Password of that administrator; not one of the 10,000 most common ones. Unset: a password is generated, stored in `DATA_DIR/initial-admin-password`, and printed once if standard output is a terminal.',
    ),
  JWT_SECRET: z
    .string()
    .refine((value) => Buffer.byteLength(value) >= 32, 'must have at least 32 bytes')
    .optional()
    .describe(
      'Secret that signs access tokens. Unset: a secret is generated and stored in `DATA_DIR`. Required with `NODE_ENV=production` and `DATABASE_URL`.',
    ),
  SESSION_LIFETIME_DAYS: number(1, 365)
    .default(7)
    .describe(
      'Number of days after which a login ends, however often its token was refreshed. A change applies to later logins.',
    ),
  OIDC_ISSUER: url('https://login.example.org/realms/city')
    .refine(
      (address) => new URL(address).protocol === 'https:' || isThisMachine(new URL(address).hostname),
      'must begin with https: unless it is on this machine',
    )
    .optional()
    .describe(
      'Issuer of an OpenID Connect provider with whose accounts users can log in. Unset: with passwords only. Login with passwords remains possible.',
    ),
  OIDC_CLIENT_ID: z
    .string()
    .max(500)
    .optional()
    .describe('Name under which the provider knows this service.'),
  OIDC_CLIENT_SECRET: z
    .string()
    .max(1_000)
    .optional()
    .describe('Secret of that client. Unset: a public client, with PKCE only.'),
  OIDC_NAME: z
    .string()
    .max(50)
    .default('single sign-on')
    .describe('Name of the provider on the sign-in page.'),
  OIDC_SCOPES: z.string().max(500).default('openid email profile').describe('Scopes that are asked for.'),
  OIDC_ROLE_CLAIM: z
    .string()
    .max(200)
    .default('groups')
    .describe(
      'Claim with the groups or roles of a user: a text or a list of texts. Dots lead into objects, as in `realm_access.roles`.',
    ),
  OIDC_ROLES: z
    .string()
    .default('')
    .transform(list)
    .refine(
      (pairs) => pairs.every((pair) => roleOfValue(pair) !== null),
      'must be values of the claim with their roles, such as traffic-admins=ADMIN,traffic=OPERATOR',
    )
    .transform((pairs) => pairs.flatMap((pair) => roleOfValue(pair) ?? []))
    .describe(
      'Role for each value of that claim, separated by commas, such as `traffic-admins=ADMIN,traffic=OPERATOR`. Of several, the first in this list counts. Users without any are refused. The role is set again at each login.',
    ),
  OIDC_REDIRECT_URL: url('https://gantry.example.org/login/oidc/callback')
    .refine(
      (address) => new URL(address).pathname.endsWith('/login/oidc/callback'),
      'must end with /login/oidc/callback',
    )
    .optional()
    .describe(
      'Address to which the provider returns users, as registered there: `/login/oidc/callback` of this service. Unset: that of the address to which the request to log in was sent, with `http:`.',
    ),
  OIDC_RETURN_URL: url('https://gantry.example.org/sign-in')
    .optional()
    .describe(
      'Page of the web application that completes a login, with `auth.completeOidcLogin`. Unset: `/sign-in` of this service.',
    ),
  WEB_ORIGIN: origin('an origin such as https://gantry.example.org')
    .optional()
    .describe(
      'Origin of a web application on another origin than the service. It and its www variant may call the API from a browser. Links lead to `PUBLIC_URL`.',
    ),
  PREVIEW_ORIGINS: z
    .string()
    .default('')
    .transform(list)
    .refine(
      (patterns) => patterns.every((pattern) => PREVIEW_ORIGIN.test(pattern)),
      'must be origins such as https://*.preview.example.org, with * as the first label, separated by commas; a single origin is set with WEB_ORIGIN',
    )
    .describe(
      'Origins of preview deployments, separated by commas; `*` stands for one label of the host name.',
    ),
  DRAIN_SECONDS: number(0, 30)
    .default(1)
    .describe(
      'How long a service that was asked to stop still accepts requests while `/ready` answers 503, so that load balancers can switch to other processes first.',
    ),
  HEARTBEAT_TIMEOUT_SECONDS: number(1, 86_400)
    .default(90)
    .describe(
      'A sensor that sends neither a heartbeat nor an event for this long becomes OFFLINE; heartbeats only, if it requires them.',
    ),
  OLDEST_EVENT_DAYS: number(1, 36_500)
    .optional()
    .describe(
      'Maximum age of an event, in days. Unset: back to the year 2000. Set it to the longest time after which your devices may still send an event, so that a leaked key cannot fill every past month.',
    ),
  EVENT_RATE_FACTOR: number(1, 1_000_000)
    .default(60_000)
    .describe(
      'A sensor may send this many times its `eventsPerMin` (or 20, if that is less) per minute to each of the `WORKERS`, and as many messages through each of its connections; beyond that, it receives 429 with `Retry-After`. The allowance of one minute, and at least 2,000 events, may arrive at once. The default is more than a machine can ingest. Lower it, for example to 100, so that a leaked key cannot fill the disk.',
    ),
  ORGANIZATION: z.string().max(200).default('Gantry').describe('Name of the operator, shown in the licence.'),
  SPEED_UNITS: z
    .enum(speedUnitNames)
    .default('KMH')
    .describe(
      'Units of speed studies for locations without units of their own (`locations.update`): KMH or MPH. Other speeds are in km/h.',
    ),
  PUBLIC_SENSOR_KEYS: flag
    .default(false)
    .describe(
      'Whether the public sensor procedures show API keys to everybody, as the API specifies, instead of fingerprints.',
    ),
  PUBLIC_SENSORS: flag
    .default(true)
    .describe(
      'Whether `sensors.getAll`, `sensors.getAllSensors` and `sensors.getById` answer without a token, as the API specifies. `false` is recommended in production: these queries then require a token like all others.',
    ),
  SECOND_FACTOR_FOR: someOf('roles', role.options).describe(
    'Roles that require a second factor, separated by commas. Users who log in with a password and have none must set it up before they can do anything else. API tokens, and logins at the OpenID Connect provider, are not asked for it.',
  ),
  HIDE_PLATES_FROM: someOf('roles', role.exclude(['ADMIN']).options).describe(
    'Roles that see no number plates, separated by commas. Their answers, streams and report files contain `•••` in place of plates, and neither images nor metadata of events; they cannot search for a plate.',
  ),
  PLATE_SEARCH_REASON: flag
    .default(false)
    .describe(
      'Whether a search for a plate requires a `reason`, which is recorded in the activity log. It applies to lists, streams, reports, schedules and webhooks that filter by a plate.',
    ),
  ACTIVITY_LOG: z
    .enum(['off', 'stdout'], { error: 'must be off or stdout' })
    .default('off')
    .describe(
      'Whether each entry of the activity log is also written to standard output, as a line of JSON with the keys of `audit.getActivity` (`stdout`). Plates that users searched for are in it.',
    ),
  PURPOSES: purposes().describe(
    'Purposes of searches for plates, such as `STOLEN=Stolen vehicle,MISSING=Missing person`: codes with their names, separated by commas. If there are any, every search for a plate requires a `purpose`, one of the codes, which is recorded in the activity log.',
  ),
  HIT_EXPIRY_HOURS: number(1, 8_760)
    .default(24)
    .describe('Hits of hotlists about which nobody has decided after this many hours expire.'),
  TRUSTED_PROXIES: networks().describe(
    'Addresses or networks (CIDR) of reverse proxies whose `X-Forwarded-For` header is trusted, separated by commas.',
  ),
  FEATURES: someOf('names', switchableFeatures, switchableFeatures.join(',')).describe(
    'Enabled features, separated by commas. Procedures of disabled features answer FORBIDDEN, as do reports on their data, whose schedules wait until the feature is enabled; their flags in the system settings are false.',
  ),
  WEBHOOK_ALLOW_HOSTS: hosts().describe(
    'Hosts inside your network (`host` or `host:port`), separated by commas, to which webhooks may be sent. All other loopback, private and link-local addresses are refused.',
  ),
  PING_ALLOW_HOSTS: hosts().describe(
    'Hosts on the machine of the service or its own link (`host` or `host:port`), separated by commas, to which `sensors.ping` may connect. All other loopback and link-local addresses are refused, also behind names.',
  ),
  METRICS_TOKEN: z
    .string()
    .min(16, 'must have at least 16 characters')
    .max(500, 'must have at most 500 characters')
    .optional()
    .describe(
      'Token that a request for `/metrics` must present (`Authorization: Bearer …`), unless it comes from `METRICS_ALLOW_FROM`. Unset, with `METRICS_ALLOW_FROM` empty: everybody can read the metrics.',
    ),
  METRICS_ALLOW_FROM: networks().describe(
    'Addresses or networks (CIDR) from which `/metrics` can be read, separated by commas. From others it can be read with the `METRICS_TOKEN`, or not at all if that is unset.',
  ),
  S3_BUCKET: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'must be the name of a bucket, such as gantry-images')
    .optional()
    .describe(
      'Bucket of an S3-compatible store for the images of events. Unset: `DATA_DIR/images`. Required when several machines use one database and share no folder.',
    ),
  S3_ENDPOINT: url('https://s3.example.org')
    .optional()
    .describe('Address of that store. Unset: Amazon S3 in the region.'),
  S3_REGION: z.string().max(100).default('us-east-1').describe('Region of that store.'),
  S3_ACCESS_KEY_ID: z
    .string()
    .max(500)
    .optional()
    .describe(
      'Access key for that store. Unset: the credentials that the AWS SDK finds, such as the role of the machine.',
    ),
  S3_SECRET_ACCESS_KEY: z.string().max(500).optional().describe('The secret of that access key.'),
  BACKUP_DIR: z
    .string()
    .transform((path) => resolve(path))
    .optional()
    .describe(
      'Folder in which backups of the database and the images are made, best on another disk or machine. Its parent must exist. Unset: there are no scheduled backups. With several machines, set it on one of them, and `BACKUP_SCHEDULE` and `BACKUP_KEEP` only there.',
    ),
  BACKUP_SCHEDULE: z
    .string()
    .regex(
      /^(?:([01]\d|2[0-3]):[0-5]\d|[1-9]\d{0,2}h|manual)$/,
      'must be a time of day such as 02:00, an interval such as 6h, or manual',
    )
    .default('02:00')
    .describe(
      'When backups are made: at a time of day (`02:00`, in the time zone of the service), at an interval (`6h`), or on request only (`manual`).',
    ),
  BACKUP_KEEP: number(1, 1_000)
    .default(7)
    .describe('Number of backups that are kept in `BACKUP_DIR`. After each backup, older ones are removed.'),
  BACKUP_ENCRYPT_TO: z
    .string()
    .transform((text) => text.split(/[\s,]+/).filter((recipient) => recipient !== ''))
    .refine((recipients) => recipients.every((each) => /^age1[0-9a-z]{58}$/.test(each)), {
      error: 'must be recipients of age, such as age1 and 58 letters and digits, separated by blanks',
    })
    .default([])
    .describe(
      'Recipients of age (public keys of `age-keygen`), separated by blanks: backups are encrypted, and only the identity of one of them decrypts them. Keep the identity elsewhere. Unset: backups are not encrypted.',
    ),
  SEAL: z
    .enum(sealModes)
    .default('evidence')
    .describe(
      'Which events are sealed, so that it can be proven later that they were not changed: violations, events with images and hits (`evidence`), all events (`all`), or nothing at all (`off`). The activity log and the log of the control room are sealed with them.',
    ),
  GATEWAY_URL: origin('an address such as http://10.0.0.5:4000')
    .max(60, 'must have at most 60 characters, because some cameras accept only 127 for the whole address')
    .optional()
    .describe(
      'Address under which devices reach the service, for the addresses that `connections.create` returns. Unset: the address to which the request to create a connection was sent.',
    ),
  DEVICE_MESSAGE_DAYS: number(1, 3_650)
    .default(14)
    .describe(
      'Number of days for which messages of devices are kept as they were received, with their images. Events made from them remain.',
    ),
  GATEWAY_SPOOL_MB: number(0, 1_000_000)
    .default(512)
    .describe(
      'Maximum size of `DATA_DIR/gateway-spool`, in megabytes. There, messages of devices that do not send again are kept while the database is unavailable.',
    ),
  MQTT_URL: url('mqtts://user:password@broker.example.org', /^(?:mqtts?|wss?)$/)
    .optional()
    .describe(
      'MQTT broker from which connections receive messages, with user and password if it needs them: `mqtt:`, `mqtts:`, `ws:` or `wss:`. Unset: none.',
    ),
  MQTT_CLIENT_ID: z
    .string()
    .regex(/^[\w.-]{1,64}$/, 'must be up to 64 letters, digits, dots, hyphens or underscores')
    .optional()
    .describe('Name of the session on the broker. Unset: one that is derived from the installation.'),
  MQTT_CA_FILE: z
    .string()
    .optional()
    .describe(
      'Certificates (PEM) that sign the certificate of the broker. Unset: those that the system trusts.',
    ),
  MQTT_CERT_FILE: z.string().optional().describe('Certificate (PEM) by which the broker knows this client.'),
  MQTT_KEY_FILE: z.string().optional().describe('Key (PEM) of that certificate.'),
  WORKS_SECOND_PERSON: flag
    .default(true)
    .describe(
      'Whether planned works that an operator proposed are approved by another operator or by an administrator. `false`: operators may approve their own.',
    ),
  PUBLIC_URL: origin('an address such as https://gantry.example.org')
    .optional()
    .describe(
      'Address under which users reach the console, for the links in e-mail and in messages about alarms. Unset: there are no links, so alarms cannot be acknowledged and passwords not be set by one.',
    ),
  ACCESSIBILITY_URL: url('https://example.org/accessibility', /^(?:https?|mailto)$/)
    .max(500)
    .optional()
    .describe(
      'Accessibility statement of the operator, or `mailto:` and the address for feedback, to which the sign-in page links. Unset: no link.',
    ),
  SMTP_URL: url('smtps://user:password@mail.example.org', /^smtps?$/)
    .refine((value) => mailServerFlaw(value) === null, {
      error: ({ input }) => mailServerFlaw(String(input)) ?? '',
    })
    .optional()
    .describe(
      'Mail server (SMTP) through which the service sends e-mail, with user and password if it needs them: `smtps:` (port 465 unless given), or `smtp:` (port 587) with STARTTLS, which is required unless the server is on this machine. Unset: the service sends no e-mail.',
    ),
  SMTP_FROM: z
    .string()
    .max(400)
    .transform((value, ctx) => {
      const [, name = '', address = value] = /^([^<>\p{Cc}]*)<([^<>]*)>$/u.exec(value.trim()) ?? [];
      const parsed = z.email().max(254).safeParse(address.trim());
      if (parsed.success) return { name: name.trim().replaceAll('"', ''), address: parsed.data };
      ctx.addIssue('must be an address such as gantry@example.org or Gantry <gantry@example.org>');
      return z.NEVER;
    })
    .optional()
    .describe(
      'Sender of e-mail: an address, or a name and an address, such as `Gantry <gantry@example.org>`.',
    ),
  SMTP_CA_FILE: z
    .string()
    .optional()
    .describe(
      'Certificates (PEM) that sign the certificate of the mail server. Unset: those that Node.js trusts.',
    ),
  CONSOLE: flag
    .default(true)
    .describe('Whether the service serves the console, the web application for operators, at `/`.'),
  MAP_PMTILES: z
    .string()
    .transform((path) => resolve(path))
    .optional()
    .describe(
      'File with the tiles of the map in the console (PMTiles, version 3). It is served to everybody at `/map/area.pmtiles`. Unset: the map shows outlines of countries only.',
    ),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
      error: 'must be one of fatal, error, warn, info, debug, trace, silent',
    })
    .default('info')
    .describe('Level of the log, which is written to standard output as JSON lines.'),
  NODE_ENV: z
    .string()
    .max(50)
    .default('development')
    .describe(
      'Name of the environment, shown in the system settings. `production` is stricter about secrets.',
    ),
} as const;

const settings = z.object(configKeys);

export type Config = z.output<typeof settings>;

/** Each setting on the left has no effect, or does not suffice, without the one on the right. */
const NEEDED = [
  ['OIDC_ISSUER', 'OIDC_CLIENT_ID'],
  ['OIDC_ISSUER', 'OIDC_ROLES'],
  ['OIDC_CLIENT_ID', 'OIDC_ISSUER'],
  ['OIDC_CLIENT_SECRET', 'OIDC_ISSUER'],
  ['OIDC_NAME', 'OIDC_ISSUER'],
  ['OIDC_SCOPES', 'OIDC_ISSUER'],
  ['OIDC_ROLE_CLAIM', 'OIDC_ISSUER'],
  ['OIDC_ROLES', 'OIDC_ISSUER'],
  ['OIDC_REDIRECT_URL', 'OIDC_ISSUER'],
  ['OIDC_RETURN_URL', 'OIDC_ISSUER'],
  ['S3_ENDPOINT', 'S3_BUCKET'],
  ['S3_REGION', 'S3_BUCKET'],
  ['S3_ACCESS_KEY_ID', 'S3_BUCKET'],
  ['BACKUP_SCHEDULE', 'BACKUP_DIR'],
  ['BACKUP_KEEP', 'BACKUP_DIR'],
  ['MQTT_CLIENT_ID', 'MQTT_URL'],
  ['MQTT_CA_FILE', 'MQTT_URL'],
  ['MQTT_CERT_FILE', 'MQTT_URL'],
  ['SMTP_URL', 'SMTP_FROM'],
  ['SMTP_FROM', 'SMTP_URL'],
  ['SMTP_CA_FILE', 'SMTP_URL'],
] as const satisfies readonly (readonly [keyof Config, keyof Config])[];

/** Settings that are used together, and what they are. */
const TOGETHER = [
  ['S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY', 'the access key and its secret'],
  ['MQTT_CERT_FILE', 'MQTT_KEY_FILE', 'the certificate and its key'],
] as const satisfies readonly (readonly [keyof Config, keyof Config, string])[];

/** @param given the settings as they were given; a setting with a default value counts as set only if it is among them */
const schemaFor = (given: Readonly<Record<string, string | undefined>>) =>
  settings.superRefine((config, ctx) => {
    const refuse = (key: keyof Config, message: string): void => {
      ctx.addIssue({ code: 'custom', path: [key], message });
    };
    const isSet = (key: keyof Config): boolean => {
      const value = config[key];
      return given[key] !== undefined && !(Array.isArray(value) && value.length === 0);
    };
    if (config.NODE_ENV === 'production' && config.DATABASE_URL && !config.JWT_SECRET)
      refuse(
        'JWT_SECRET',
        'must be set with NODE_ENV=production and DATABASE_URL, to at least 32 random bytes',
      );
    for (const [one, other, both] of TOGETHER) {
      if (isSet(one) !== isSet(other))
        refuse(isSet(one) ? other : one, `must be set too, because ${both} are used together`);
    }
    for (const [set, other] of NEEDED) {
      if (isSet(set) && !isSet(other)) refuse(other, `must be set too, because ${set} is set`);
    }
    const tls = (['MQTT_CA_FILE', 'MQTT_CERT_FILE'] as const).find(isSet);
    if (tls && config.MQTT_URL && !/^(?:mqtts|wss):/i.test(config.MQTT_URL))
      refuse('MQTT_URL', `must begin with mqtts: or wss:, because ${tls} is set`);
  });

/** A setting that cannot be used. The message names each invalid key and what it expects. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * Reads the settings from environment variables; an empty one counts as unset.
 * @throws ConfigError naming each wrong key
 */
export function readConfig(env: Record<string, string | undefined>): Config {
  const given = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ''),
  );
  const result = schemaFor(given).safeParse(given);
  if (result.success) return result.data;
  // The rest of the path, which is the position in a list, is left out.
  const lines = result.error.issues.map(({ path: [key], message }) => `  ${String(key)} ${message}`);
  throw new ConfigError(`The configuration cannot be used:\n${[...new Set(lines)].join('\n')}`);
}

/** An origin as browsers write it. @param such what it must be, with an example */
function origin(such: string) {
  return z.string().superRefine((value, ctx) => {
    const written = URL.canParse(value) ? new URL(value) : null;
    const isHttp = written !== null && /^https?:$/.test(written.protocol);
    if (isHttp && written.origin === value) return;
    const instead = isHttp ? `: write ${written.origin}` : '';
    ctx.addIssue({
      code: 'custom',
      message: `must be ${such}, without a path or the default port${instead}`,
    });
  });
}

/** An address with one of these protocols. @param example of what it must be */
function url(example: string, protocol = /^https?$/) {
  return z.url({ protocol, error: `must be an address such as ${example}`, abort: true });
}

/** Some of these values, separated by commas. @param what they are, for the message */
function someOf<const Value extends string>(what: string, values: readonly Value[], initial = '') {
  const error = `must be ${what} from this list: ${values.join(', ')}`;
  return z
    .string()
    .default(initial)
    .transform(list)
    .pipe(z.array(z.enum(values, { error })));
}

/** Codes with names, separated by commas. */
function purposes() {
  return z
    .string()
    .default('')
    .transform(list)
    .superRefine((given, ctx) => {
      const flaw = flawOfPurposes(given);
      if (flaw !== null) ctx.addIssue({ code: 'custom', message: flaw });
    })
    .transform((given) => new Map(given.map(readPurpose)));
}

const MAX_PURPOSES = 50;

function readPurpose(purpose: string): [code: string, name: string] {
  const [code = '', ...name] = purpose.split('=');
  return [code.trim(), name.join('=').trim()];
}

function flawOfPurposes(given: readonly string[]): string | null {
  const read = given.map(readPurpose);
  const bad = given.find((_, at) => !isPurpose(read[at] ?? ['', '']));
  if (bad !== undefined) {
    return `must be codes with names such as STOLEN=Stolen vehicle, separated by commas, not ${bad}: a code has up to 40 capital letters, digits and _, and a name up to 80 characters`;
  }
  const twice = read.find(([code], at) => read.findIndex((each) => each[0] === code) !== at);
  if (twice) return `has the code ${twice[0]} twice`;
  return given.length > MAX_PURPOSES ? `must be at most ${MAX_PURPOSES} purposes` : null;
}

function isPurpose([code, name]: readonly [string, string]): boolean {
  return /^[A-Z][A-Z0-9_]{0,39}$/.test(code) && name !== '' && name.length <= 80;
}

/** Addresses or networks, separated by commas. */
function networks() {
  return z
    .string()
    .default('')
    .transform(list)
    .refine((given) => given.every(isAddressOrNetwork), {
      error: ({ input }) =>
        `must be addresses or networks such as 10.0.0.7 or 10.0.0.0/8, separated by commas, not ${(input as string[]).find((each) => !isAddressOrNetwork(each))}`,
    });
}

/** Hosts, with or without a port, separated by commas, in the form for comparison. */
function hosts() {
  return z
    .string()
    .default('')
    .transform(list)
    .transform((given) => given.map(parseAllowedHost))
    .refine(
      (given): given is string[] => !given.includes(null),
      'must be hosts such as intranet.example.org or 10.0.0.7:8080, separated by commas',
    );
}

function isAddressOrNetwork(value: string): boolean {
  try {
    return proxyAddress.compile(value) !== undefined;
  } catch {
    return false;
  }
}

/** What is wrong with the URL of a mail server; null if nothing is. */
function mailServerFlaw(value: string): string | null {
  const { hostname, username, password, pathname, search, hash } = new URL(value);
  if (hostname === '') return 'must name a host, such as smtps://mail.example.org';
  if (pathname.replace('/', '') !== '' || search !== '' || hash !== '')
    return 'must end with the host or the port, such as smtps://mail.example.org:465';
  if (password !== '' && username === '') return 'must name the user before the password';
  try {
    decodeURIComponent(username + password);
    return null;
  } catch {
    return 'must have %25 for each % in the user and the password';
  }
}

function roleOfValue(pair: string): { value: string; role: Role } | null {
  const at = pair.lastIndexOf('=');
  const held = role.safeParse(pair.slice(at + 1).trim());
  const value = pair.slice(0, Math.max(0, at)).trim();
  return held.success && value !== '' ? { value, role: held.data } : null;
}

function list(value: string): string[] {
  return value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function number(min: number, max: number) {
  return z.preprocess(
    // A blank text would count as 0.
    (value) => (typeof value === 'string' && value.trim() === '' ? undefined : value),
    z.coerce
      .number({ error: 'must be a number' })
      .int('must be a whole number')
      .min(min, `must be at least ${min}`)
      .max(max, `must be at most ${max}`),
  );
}
