import { resolve } from 'node:path';
import { switchableFeatures } from '@gantry/contract/system';
import { z } from 'zod';
import { parseAllowedHost } from './hosts.ts';

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
    .regex(/^postgres(ql)?:\/\/.+/, 'must be an address such as postgres://user:password@host:5432/gantry')
    .optional()
    .describe(
      'Your own PostgreSQL server (15 to 18). Unset: the embedded one, which is started automatically.',
    ),
  DATABASE_POOL_SIZE: number(2, 200)
    .default(10)
    .describe(
      'Maximum number of database connections of one process for ordinary work. It opens up to 15 more, for devices, gateways, expensive queries, health checks, reports and messages. Your own server must allow this number for each of the `WORKERS`.',
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
      'Password of that administrator. Unset: a password is generated, stored in `DATA_DIR/initial-admin-password`, and printed once if standard output is a terminal.',
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
  WEB_ORIGIN: z
    .string()
    .refine(isOrigin, 'must be an origin such as https://gantry.example.org, without a path')
    .optional()
    .describe('Origin of the web application. It and its www variant may call the API from a browser.'),
  PREVIEW_ORIGINS: z
    .string()
    .default('')
    .transform(list)
    .refine(
      (patterns) => patterns.every((pattern) => PREVIEW_ORIGIN.test(pattern)),
      'must be origins such as https://*.preview.example.org, separated by commas',
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
    .describe('A sensor that sends no heartbeat for this long becomes OFFLINE.'),
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
  PUBLIC_SENSOR_KEYS: flag
    .default(false)
    .describe(
      'Whether the public sensor procedures show API keys to everybody, as the API specifies, instead of fingerprints.',
    ),
  TRUSTED_PROXIES: z
    .string()
    .default('')
    .transform(list)
    .describe(
      'Addresses or networks (CIDR) of reverse proxies whose `X-Forwarded-For` header is trusted, separated by commas.',
    ),
  FEATURES: z
    .string()
    .default(switchableFeatures.join(','))
    .transform(list)
    .pipe(
      z.array(
        z.enum(switchableFeatures, {
          error: `must be names from this list: ${switchableFeatures.join(', ')}`,
        }),
      ),
    )
    .describe(
      'Enabled features, separated by commas. Procedures of disabled features answer FORBIDDEN, and their flags in the system settings are false.',
    ),
  WEBHOOK_ALLOW_HOSTS: z
    .string()
    .default('')
    .transform(list)
    .transform((hosts) => hosts.map(parseAllowedHost))
    .refine(
      (hosts): hosts is string[] => !hosts.includes(null),
      'must be hosts such as intranet.example.org or 10.0.0.7:8080, separated by commas',
    )
    .describe(
      'Hosts inside your network (`host` or `host:port`), separated by commas, to which webhooks may be sent. All other loopback, private and link-local addresses are refused.',
    ),
  S3_BUCKET: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'must be the name of a bucket, such as gantry-images')
    .optional()
    .describe(
      'Bucket of an S3-compatible store for the images of events. Unset: `DATA_DIR/images`. Required when several machines use one database and share no folder.',
    ),
  S3_ENDPOINT: z
    .url({ protocol: /^https?$/, error: 'must be an address such as https://s3.example.org' })
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
  GATEWAY_URL: z
    .string()
    .max(60, 'must have at most 60 characters, because some cameras accept only 127 for the whole address')
    .refine(isOrigin, 'must be an address such as http://10.0.0.5:4000, without a path')
    .optional()
    .describe(
      'Address under which devices reach the service, for the addresses that `connections.create` returns. Unset: the address to which the request to create a connection was sent.',
    ),
  DEVICE_MESSAGE_DAYS: number(1, 3_650)
    .default(14)
    .describe(
      'How long messages of devices are kept as they came, in days, with their pictures. Events that were made of them stay.',
    ),
  GATEWAY_SPOOL_MB: number(0, 1_000_000)
    .default(512)
    .describe(
      'Maximum size of `DATA_DIR/gateway-spool`, in megabytes. There, messages of devices that do not send again are kept while the database is unavailable.',
    ),
  MQTT_URL: z
    .url({
      protocol: /^(?:mqtts?|wss?)$/,
      error: 'must be an address such as mqtts://user:password@broker.example.org',
    })
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

const schema = z.object(configKeys).superRefine((config, ctx) => {
  if (config.NODE_ENV === 'production' && config.DATABASE_URL && !config.JWT_SECRET) {
    ctx.addIssue({
      code: 'custom',
      path: ['JWT_SECRET'],
      message: 'must be set with NODE_ENV=production and DATABASE_URL, to at least 32 random bytes',
    });
  }
  if ((config.S3_ACCESS_KEY_ID === undefined) !== (config.S3_SECRET_ACCESS_KEY === undefined)) {
    const path = config.S3_ACCESS_KEY_ID === undefined ? 'S3_ACCESS_KEY_ID' : 'S3_SECRET_ACCESS_KEY';
    ctx.addIssue({
      code: 'custom',
      path: [path],
      message: 'must be set too, because the access key and its secret are used together',
    });
  }
  if ((config.MQTT_CERT_FILE === undefined) !== (config.MQTT_KEY_FILE === undefined)) {
    ctx.addIssue({
      code: 'custom',
      path: [config.MQTT_CERT_FILE === undefined ? 'MQTT_CERT_FILE' : 'MQTT_KEY_FILE'],
      message: 'must be set too, because the certificate and its key are used together',
    });
  }
});

export type Config = z.output<typeof schema>;

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
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  const lines = result.error.issues.map((issue) => `  ${issue.path.join('.')} ${issue.message}`);
  throw new ConfigError(`The configuration cannot be used:\n${lines.join('\n')}`);
}

function isOrigin(value: string): boolean {
  return URL.canParse(value) && /^https?:$/.test(new URL(value).protocol) && new URL(value).origin === value;
}

function list(value: string): string[] {
  return value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function number(min: number, max: number) {
  return z.coerce
    .number({ error: 'must be a number' })
    .int('must be a whole number')
    .min(min, `must be at least ${min}`)
    .max(max, `must be at most ${max}`);
}
