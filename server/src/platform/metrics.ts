import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { createHistogram } from 'node:perf_hooks';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** The metrics for Prometheus at /metrics. */
export type Metrics = ReturnType<typeof callsOf> &
  ReturnType<typeof eventsOf> &
  ReturnType<typeof devicesOf> &
  ReturnType<typeof databaseOf> &
  ReturnType<typeof installationOf> & {
    readonly registry: Registry;
    /** All metrics in Prometheus' text format. */
    readonly render: () => Promise<string>;
    /** Adds a metric of how the connections of these pools are used, which is read at each request for the metrics. */
    followPools(pools: Readonly<Record<string, PoolUse>>): void;
  };

/** The use of the connections of a pool. */
export interface PoolUse {
  readonly totalCount: number;
  readonly idleCount: number;
  /** The number of callers who wait for a connection. */
  readonly waitingCount: number;
}

/** The other processes of the service. Each of them can report the metrics of all. */
export interface Siblings {
  /** The number of this process, from 1. */
  readonly number: number;
  /** Lets the others read the metrics of this process. */
  shareMetrics(read: () => Promise<string>): void;
  /** The metrics of all processes. */
  gatherMetrics(): Promise<string>;
}

/**
 * Creates a set of metrics for one service, so that several can run in one process. With siblings, each metric has a label
 * `worker`. Values of several workers are not summed: the sum would fall when a worker restarts, as if all had restarted.
 */
export function createMetrics(siblings: Siblings | null = null): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: MAX_TIMER_MS });
  const renderAll = () => registry.metrics();
  if (siblings) {
    registry.setDefaultLabels({ worker: String(siblings.number) });
    siblings.shareMetrics(renderAll);
  }
  const registers: Registers = [registry];
  return {
    registry,
    render: siblings?.gatherMetrics ?? renderAll,
    ...callsOf(registers),
    ...eventsOf(registers),
    ...devicesOf(registers),
    ...databaseOf(registers),
    ...installationOf(registers),
    followPools: (pools) => followPools(registers, pools),
  };
}

/** The longest interval that timers accept, in milliseconds: the metrics of prom-client wake the process this rarely. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** How often the lag of the event loop is measured, in milliseconds. */
const MEASURE_LAG_MS = 500;

/**
 * Measures how late timers are until the returned function is called, and reports it under the names of prom-client, whose own
 * measurement wakes an idle process a hundred times a second and includes its interval.
 */
export function followEventLoop(registry: Registry): () => void {
  const lag = createHistogram();
  let due = performance.now() + MEASURE_LAG_MS;
  const timer = setInterval(() => {
    const now = performance.now();
    lag.record(Math.max(1, Math.round((now - due) * 1e6)));
    due = now + MEASURE_LAG_MS;
  }, MEASURE_LAG_MS).unref();
  const figures: Record<string, () => number> = {
    min: () => lag.min,
    max: () => lag.max,
    mean: () => lag.mean,
    stddev: () => lag.stddev,
    p50: () => lag.percentile(50),
    p90: () => lag.percentile(90),
    p99: () => lag.percentile(99),
  };
  for (const [name, read] of Object.entries(figures)) {
    const metric = `nodejs_eventloop_lag_${name}_seconds`;
    registry.removeSingleMetric(metric);
    new Gauge({
      name: metric,
      help: `The lag of the event loop since the last request for the metrics, in seconds: ${name}`,
      registers: [registry],
      collect() {
        this.set(lag.count === 0 ? 0 : read() / 1e9);
        if (name === 'p99') lag.reset();
      },
    });
  }
  return () => clearInterval(timer);
}

function followPools(registers: Registers, pools: Readonly<Record<string, PoolUse>>): void {
  new Gauge({
    name: 'gantry_database_connections',
    help: 'Connections to the database by what they are for and how they are used, and callers who wait for one',
    labelNames: ['pool', 'state'],
    registers,
    collect() {
      for (const [pool, { totalCount, idleCount, waitingCount }] of Object.entries(pools)) {
        this.set({ pool, state: 'idle' }, idleCount);
        this.set({ pool, state: 'in_use' }, totalCount - idleCount);
        this.set({ pool, state: 'waiting' }, waitingCount);
      }
    },
  });
}

type Registers = [Registry];

const EVENT_OUTCOMES = ['stored', 'duplicate', 'conflict', 'refused'];

/** Calls, and connections of clients. */
function callsOf(registers: Registers) {
  return {
    requests: new Counter({
      name: 'gantry_calls_total',
      help: 'Procedure calls by procedure and outcome (OK or error code)',
      labelNames: ['procedure', 'code'],
      registers,
    }),
    requestSeconds: new Histogram({
      name: 'gantry_call_seconds',
      help: 'Time to answer a procedure call, in seconds',
      labelNames: ['procedure'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers,
    }),
    /** Connections of clients that were closed at once, by the limit that was reached. */
    refusedConnections: new Counter({
      name: 'gantry_refused_connections_total',
      help: 'Connections of clients that were closed at once, because too many were open: to the process, or from one address',
      labelNames: ['limit'],
      registers,
    }),
  };
}

/** Events on their way. */
function eventsOf(registers: Registers) {
  const events = new Counter({
    name: 'gantry_events_total',
    help: `Events ingested, by outcome (${EVENT_OUTCOMES.join(', ')})`,
    labelNames: ['outcome'],
    registers,
  });
  // Without a first value, an alert on events that do not arrive after a start would have nothing to compare.
  for (const outcome of EVENT_OUTCOMES) events.inc({ outcome }, 0);
  return {
    events,
    /** Events with fields that are not known. */
    eventsWithUnknownFields: new Counter({
      name: 'gantry_events_with_unknown_fields_total',
      help: 'Events with fields that are not known: usually misspelt by a device, whose data is then missing',
      registers,
    }),
    groupSize: new Histogram({
      name: 'gantry_commit_group_size',
      help: 'Events committed together',
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024],
      registers,
    }),
    imageGroupSize: new Histogram({
      name: 'gantry_image_group_size',
      help: 'Images that were made durable together',
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
      registers,
    }),
    queuedEvents: new Gauge({
      name: 'gantry_queued_events',
      help: 'Events waiting for their commit',
      registers,
    }),
    lateFollowUps: new Gauge({
      name: 'gantry_late_follow_ups',
      help: 'Events whose incident, alert or delivery has been waiting to be made for more than a minute',
      registers,
    }),
    oldestFollowUpSeconds: new Gauge({
      name: 'gantry_oldest_follow_up_seconds',
      help: 'How long the oldest of them has been waiting, in seconds; 0 when there is none',
      registers,
    }),
    /** Images whose stored file was found missing or damaged. */
    damagedImages: new Counter({
      name: 'gantry_damaged_images_total',
      help: 'Times that a stored image was found missing or changed, by a user or the nightly verification',
      registers,
    }),
  };
}

/** Messages of devices. */
function devicesOf(registers: Registers) {
  return {
    /** Messages of devices by format and outcome. */
    deviceMessages: new Counter({
      name: 'gantry_device_messages_total',
      help: 'Messages of devices processed, by format and what became of them',
      labelNames: ['format', 'outcome'],
      registers,
    }),
    /** Answers to requests of devices, by format and HTTP status. */
    gatewayAnswers: new Counter({
      name: 'gantry_gateway_answers_total',
      help: 'Answers to requests of devices, by format and HTTP status',
      labelNames: ['format', 'status'],
      registers,
    }),
    /** Messages that wait on disk for the database. */
    spooledMessages: new Gauge({
      name: 'gantry_spooled_messages',
      help: 'Messages of devices that wait on disk for the database',
      registers,
    }),
    mqttConnected: new Gauge({
      name: 'gantry_mqtt_connected',
      help: 'Whether this process is connected to the MQTT broker; of several processes one is',
      registers,
    }),
  };
}

/** The database as this process sees it. */
function databaseOf(registers: Registers) {
  return {
    /** 1 while the database does not answer. */
    databaseAway: new Gauge({
      name: 'gantry_database_away',
      help: '1 while the database does not answer this process, otherwise 0',
      registers,
    }),
    databaseOutages: new Counter({
      name: 'gantry_database_outages_total',
      help: 'Times that the database stopped answering this process',
      registers,
    }),
    /** Log records about an outage that were only counted. */
    unloggedMessages: new Counter({
      name: 'gantry_unlogged_messages_total',
      help: 'Log messages about an outage of the database that were only counted',
      registers,
    }),
    clockSkewSeconds: new Gauge({
      name: 'gantry_clock_skew_seconds',
      help: 'How far the clock of this process is ahead of that of the database, in seconds',
      registers,
    }),
  };
}

/** The installation, of which each process reports the whole. */
function installationOf(registers: Registers) {
  return {
    sensors: new Gauge({
      name: 'gantry_sensors',
      help: 'Sensors of the installation by status; each process reports all of them',
      labelNames: ['status'],
      registers,
    }),
    pendingTrafficEvents: new Gauge({
      name: 'gantry_traffic_unfolded_events',
      help: 'Events of the installation that the counts of traffic do not contain yet; each process reports all of them',
      registers,
    }),
    sensorClocks: new Gauge({
      name: 'gantry_sensor_clocks',
      help: 'Sensors of the installation by the state of their clocks; each process reports all of them',
      labelNames: ['state'],
      registers,
    }),
    notices: new Gauge({
      name: 'gantry_notices',
      help: 'Messages about alarms of the installation that wait (pending) or failed within the last day (failed), at most 100000 of each; each process reports all of them',
      labelNames: ['state'],
      registers,
    }),
    deliveries: new Gauge({
      name: 'gantry_webhook_deliveries',
      help: 'Deliveries of the installation that wait (pending) or were given up (dead), at most 100000 of each; each process reports all of them',
      labelNames: ['state'],
      registers,
    }),
  };
}

interface Disk {
  readonly bavail: number;
  readonly blocks: number;
  readonly bsize: number;
}

/**
 * Adds metrics of the disks that hold the data folder and the embedded database in it, which may be a link to another
 * disk. They are read at each request for the metrics. A folder that cannot be read, or does not exist, is left out.
 */
export function followDisks(registry: Registry, dataDir: string): void {
  const folders = { data: dataDir, database: join(dataDir, 'postgres') };
  const add = (name: string, help: string, bytesOf: (disk: Disk) => number): void => {
    new Gauge({
      name,
      help,
      labelNames: ['folder'],
      registers: [registry],
      async collect() {
        for (const [folder, path] of Object.entries(folders)) {
          const disk = await statfs(path).catch(() => null);
          if (disk) this.set({ folder }, bytesOf(disk));
        }
      },
    });
  };
  add(
    'gantry_disk_size_bytes',
    'Size of the disk that holds the folder',
    ({ blocks, bsize }) => blocks * bsize,
  );
  add(
    'gantry_disk_free_bytes',
    'Space that is left on the disk that holds the folder',
    ({ bavail, bsize }) => bavail * bsize,
  );
}
