import type { Connection } from '@gantry/contract/connections';
import { formatNamed } from '@gantry/device-formats';
import type { Config } from '../platform/config.ts';
import type { KnownConnection } from './store.ts';

/** In the usual topics of a format, this stands for the device ID of the sensor. */
const DEVICE_ID = '{deviceId}';

/** What determines the topics of a connection. */
type Subscribing = Pick<KnownConnection, 'format' | 'options'>;

/**
 * The topics of a connection: those of its options, otherwise those of its format. A connection that assigns devices to
 * sensors listens to all devices.
 * @param deviceId the device ID of its sensor
 */
export function topicsOf({ format, options }: Subscribing, deviceId: string | undefined): readonly string[] {
  const usual = formatNamed(format).topics ?? [];
  // A wildcard character in the device ID would act as a wildcard of the filter.
  const isUsable = deviceId !== undefined && !/[+#]/.test(deviceId);
  const own = options.sensors !== undefined ? '+' : isUsable ? deviceId : DEVICE_ID;
  return (options.topics ?? usual)
    .map((topic) => topic.replaceAll(DEVICE_ID, own))
    .filter((topic) => isTopicFilter(topic) && !topic.includes(DEVICE_ID));
}

/**
 * A warning for the operator about the topics of a connection; null if there is none.
 * @param deviceId the device ID of its sensor
 */
export function topicsWarning(
  { format, options }: Subscribing,
  deviceId: string,
  { MQTT_URL }: Pick<Config, 'MQTT_URL'>,
): Connection['topicsWarning'] {
  const { transports, topics: usual = [] } = formatNamed(format);
  if (MQTT_URL === undefined || !transports.includes('mqtt') || options.topics !== undefined) return null;
  if (usual.length > 0 && topicsOf({ format, options }, deviceId).length === 0) return 'NO_TOPIC';
  return options.sensors === undefined && usual.some((topic) => /(?:^|\/)\+(?:\/|$)/.test(topic))
    ? 'EVERY_DEVICE'
    : null;
}

/**
 * Whether a topic matches a filter (MQTT 3.1.1, section 4.7): `+` stands for one level, and `#` at the end for any number
 * of them. Filters that begin with a wildcard do not match topics that begin with `$`.
 */
export function matchesTopic(filter: string, topic: string): boolean {
  if (topic.startsWith('$') && /^[+#]/.test(filter)) return false;
  const wanted = filter.split('/');
  const levels = topic.split('/');
  for (const [at, want] of wanted.entries()) {
    if (want === '#') return true;
    if (at >= levels.length || (want !== '+' && want !== levels[at])) return false;
  }
  return wanted.length === levels.length;
}

/** Whether the text is a filter that a broker accepts. */
export function isTopicFilter(text: string): boolean {
  const levels = text.split('/');
  return (
    text !== '' &&
    !text.includes('\0') &&
    levels.every(
      (level, at) => !/[+#]/.test(level) || level === '+' || (level === '#' && at === levels.length - 1),
    )
  );
}
