import { z } from 'zod';

const licensedFeature = z.enum([
  'dashboard',
  'sensors',
  'reports',
  'analytics',
  'incidents',
  'traffic',
  'locations',
  'users',
  'settings',
]);
export const licensedFeatures = licensedFeature.options;

export const license = z.object({
  valid: z.boolean(),
  type: z.string(),
  expiresAt: z.date().nullable().describe('null means never.'),
  features: z.array(licensedFeature),
  maxUsers: z.number().describe('-1 means unlimited.'),
  maxSensors: z.number().describe('-1 means unlimited.'),
  organization: z.string(),
  issuedAt: z.date(),
});

/** Features that an operator may switch off (`FEATURES`): groups of procedures, and `realtime`, which means all subscriptions. */
export const switchableFeatures = [
  'locations',
  'reports',
  'analytics',
  'traffic',
  'incidents',
  'watchlist',
  'webhooks',
  'realtime',
] as const;
export type SwitchableFeature = (typeof switchableFeatures)[number];

/**
 * Names that Node.js accepts although they are not IANA names: abbreviations, many of which mean another zone than people
 * expect (BST is Asia/Dhaka), and the zones of System V.
 */
const NOT_OF_IANA =
  /^(?:ACT|AET|AGT|ART|AST|BET|BST|CAT|CNT|CST|CTT|EAT|ECT|IET|IST|JST|MIT|NET|NST|PLT|PNT|PRT|PST|SST|VST|SystemV\/.*)$/i;

function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name) || NOT_OF_IANA.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** The name in the spelling of IANA if Node.js knows it: Node.js ignores the case of time zone names, other platforms do not. */
function spelledByIana(name: string): string {
  const known = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  return known.toLowerCase() === name.toLowerCase() ? known : name;
}

const TIMEZONE = 'An IANA time zone, such as Europe/Vienna.';

export const dateFormat = z.enum(['DD/MM/YYYY', 'MM/DD/YYYY', 'YYYY-MM-DD', 'DD.MM.YYYY']);

export const timezoneSettings = z.object({
  timezone: z.string().describe(TIMEZONE),
  use24HourFormat: z.boolean(),
  dateFormat,
  firstDayOfWeek: z.number().describe('0 = Sunday … 6 = Saturday'),
});
export type TimezoneSettings = z.infer<typeof timezoneSettings>;

/** The name of a time zone as input. */
export const timezoneName = z
  .string()
  .max(64)
  .refine(isTimeZone, 'Use an IANA time zone, such as Europe/Vienna')
  .transform(spelledByIana);

export const updateTimezoneInput = z
  .object({
    timezone: timezoneName.optional().describe(TIMEZONE),
    use24HourFormat: z.boolean().optional(),
    dateFormat: dateFormat.optional(),
    firstDayOfWeek: z.int().min(0).max(6).optional().describe('0 = Sunday … 6 = Saturday.'),
  })
  .prefault({});
export type UpdateTimezoneInput = z.infer<typeof updateTimezoneInput>;
export const updateTimezoneOutput = z.object({ success: z.literal(true), settings: timezoneSettings });

export const health = z.object({
  status: z.enum(['healthy', 'degraded', 'unhealthy']),
  timestamp: z.date(),
  version: z.string(),
  database: z.enum(['connected', 'disconnected']),
});
export type Health = z.infer<typeof health>;

export const systemSettings = z.object({
  appName: z.string(),
  appVersion: z.string(),
  environment: z.string(),
  features: z.object({
    dashboard: z.boolean(),
    sensors: z.boolean(),
    reports: z.boolean(),
    analytics: z.boolean(),
    incidents: z.boolean(),
    traffic: z.boolean(),
    locations: z.boolean(),
    realtime: z.boolean(),
  }),
});
export type SystemSettings = z.infer<typeof systemSettings>;
