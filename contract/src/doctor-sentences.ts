import type { NamesIn, SentenceValue } from './sentences.ts';

// All findings of `gantry doctor` about an installation: the code of each, the area that it concerns, and its sentences in
// English. The console translates them, so each text consists of complete sentences with {{values}} in them.

interface Sentence {
  readonly about: string;
  readonly finding: string;
  /** What to do about it; absent if nothing is wrong. */
  readonly remedy?: string;
}

export const doctorSentences = {
  nodeVersion: { about: 'node', finding: 'Node.js {{version}} runs Gantry.' },

  settingsUnusable: { about: 'settings', finding: 'The settings cannot be used.', remedy: '{{reason}}' },
  unsafeDatabase: {
    about: 'settings',
    finding: 'ALLOW_UNSAFE_DATABASE=true accepts a database server that can lose acknowledged events.',
    remedy: 'Remove ALLOW_UNSAFE_DATABASE, and switch fsync, synchronous_commit and full_page_writes on.',
  },
  publicSensorKeys: {
    about: 'settings',
    finding:
      'PUBLIC_SENSOR_KEYS=true shows the API keys of all sensors to everybody who can reach the service.',
    remedy: 'Remove PUBLIC_SENSOR_KEYS, and rotate the keys that were visible.',
  },
  publicSensors: {
    about: 'settings',
    finding: 'Everybody who can reach the service sees the lists of sensors, without a token.',
    remedy: 'Set PUBLIC_SENSORS=false, unless these lists are meant to be public.',
  },
  notProduction: {
    about: 'settings',
    finding: 'The service listens on {{host}}, and NODE_ENV is {{mode}}.',
    remedy: 'Set NODE_ENV=production, which is stricter about secrets, unless this is a trial.',
  },
  noProxy: {
    about: 'settings',
    finding: 'The service listens on {{host}} without TLS, and no proxy is named in TRUSTED_PROXIES.',
    remedy:
      'Put a reverse proxy with TLS in front, let the service listen on 127.0.0.1 or a private network, and set TRUSTED_PROXIES to the address of the proxy.',
  },
  previewOrigins: {
    about: 'settings',
    finding: 'Every page under these origins may call the API from a browser (PREVIEW_ORIGINS): {{origins}}.',
    remedy: 'Remove PREVIEW_ORIGINS in production, and name the web application in WEB_ORIGIN.',
  },
  webOriginWithoutTls: {
    about: 'settings',
    finding: 'WEB_ORIGIN is {{origin}}, so passwords and tokens travel without TLS.',
    remedy: 'Serve the web application over https, and change WEB_ORIGIN.',
  },
  publicUrlMissing: {
    about: 'settings',
    finding:
      'SMTP_URL is set and PUBLIC_URL is not, so e-mail has no links and users cannot set new passwords by it.',
    remedy: 'Set PUBLIC_URL to the address under which users reach the console.',
  },
  mailServer: {
    about: 'settings',
    finding: 'No e-mail can be sent: {{reason}}.',
    remedy:
      'Check SMTP_URL (address, port, user and password), SMTP_CA_FILE and the network; what waits is sent once the server answers.',
  },
  mailFine: { about: 'settings', finding: 'The mail server answers and accepts the login.' },
  settingsFine: { about: 'settings', finding: 'The settings are suitable.' },

  adminPasswordSet: {
    about: 'secrets',
    finding: 'ADMIN_PASSWORD is set, although it is used only once, to create the first administrator.',
    remedy: 'Remove ADMIN_PASSWORD from .env and the environment.',
  },
  weakJwtSecret: {
    about: 'secrets',
    finding: 'JWT_SECRET consists of few different characters, so it can be guessed.',
    remedy: 'Set it to at least 32 random bytes, for example the output of: openssl rand -base64 48',
  },
  initialPassword: {
    about: 'secrets',
    finding: 'The generated password of the first administrator is still in {{file}}.',
    remedy: 'Log in, choose a password of your own, and delete the file.',
  },
  readableSecrets: {
    about: 'secrets',
    finding: 'Every user of this machine can read these files: {{files}}.',
    remedy: 'Let only their owner read them: chmod 600.',
  },

  noDataFolder: {
    about: 'folder',
    finding: 'There is no data folder {{folder}} yet.',
    remedy: 'Start the service once, or name the folder with DATA_DIR.',
  },
  folderNotWritable: {
    about: 'folder',
    finding: 'The data folder {{folder}} cannot be written by this user.',
    remedy: 'Give it to the user that runs Gantry (chown -R), or run this command as that user.',
  },
  folderWritableByOthers: {
    about: 'folder',
    finding: 'Other users may write to the data folder {{folder}} (mode {{mode}}).',
    remedy: 'Run: chmod go-w {{folder}}',
  },
  diskSpace: {
    about: 'folder',
    finding: '{{gigabytes}} GB ({{percent}} %) are free on the disk of {{folder}}.',
    remedy: 'Enlarge the disk, or keep data for a shorter time (Storage in the console).',
  },
  sealsBroken: {
    about: 'folder',
    finding:
      'Seals, or records that were sealed, differ from what was sealed: {{faults}} in the last check, the first of them in seal {{first}}.',
    remedy:
      'Run gantry evidence check, which names each, and compare with a backup and with copies of the checkpoints in the folder seals.',
  },
  sealsFine: { about: 'folder', finding: 'The last check of seals found no difference: {{seals}} seals.' },
  damagedImages: {
    about: 'folder',
    finding:
      'Stored images that are missing, or not those that were received: {{images}}, the first of them {{first}}.',
    remedy:
      'Check the disk or the store, and copy these files from a backup (the folder pictures), where their names are their hashes. The next nightly verification clears those that are right again.',
  },
  imagesFine: {
    about: 'folder',
    finding: 'No stored image is known to be damaged; {{images}} were verified {{hours}} hours ago.',
  },
  pictureStore: {
    about: 'folder',
    finding: 'The store of images does not answer: {{reason}}.',
    remedy: 'Check the settings that begin with S3, and whether the store runs. Events with images wait.',
  },

  databaseUnreachable: {
    about: 'database',
    finding: 'The database cannot be checked.',
    remedy: '{{reason}}',
  },
  databaseAnswers: { about: 'database', finding: 'The database answers (PostgreSQL {{version}}).' },
  databaseTooOld: {
    about: 'database',
    finding: 'The database is PostgreSQL {{version}}, which is too old.',
    remedy: 'Update it to PostgreSQL 15 to 18.',
  },
  databaseUntested: {
    about: 'database',
    finding: 'The database is PostgreSQL {{version}}, with which Gantry was not tested.',
    remedy: 'Use 15 to 18.',
  },
  databaseEncoding: {
    about: 'database',
    finding: 'The database has the encoding {{encoding}}.',
    remedy: "Create it with ENCODING 'UTF8'.",
  },
  databaseStandby: {
    about: 'database',
    finding: 'The server is a standby, which only reads.',
    remedy: 'Name the primary in DATABASE_URL.',
  },
  databaseNodesAway: {
    about: 'database',
    finding: 'Nodes of the database cluster do not answer, so most events are refused: {{nodes}}.',
    remedy: 'Start them, or check their connection to the coordinator.',
  },
  databaseMayNotCreate: {
    about: 'database',
    finding: 'The role may not create tables in the schema public, which is needed every month.',
    remedy: 'Run GRANT CREATE ON SCHEMA public TO the role in DATABASE_URL.',
  },
  databaseUnsafe: {
    about: 'database',
    finding: 'The database runs with {{settings}} off, so acknowledged events can be lost when it fails.',
    remedy: 'Switch {{settings}} on.',
  },
  longTransaction: {
    about: 'database',
    finding:
      'A transaction has been open for {{minutes}} minutes, which delays streams and the removal of old rows.',
    remedy: 'Find it in pg_stat_activity (xact_start), and end it.',
  },
  connections: {
    about: 'database',
    finding:
      'This service may open {{needed}} connections, others use {{others}}, and the server allows {{allowed}}.',
    remedy:
      'Raise max_connections of the server, or CONNECTION LIMIT of the role or database if it is lower, or lower DATABASE_POOL_SIZE or WORKERS.',
  },
  clocks: {
    about: 'database',
    finding: 'The clocks of this machine and of the database differ by {{seconds}} s.',
    remedy: 'Synchronise both with NTP.',
  },
  autovacuumOff: {
    about: 'database',
    finding: 'Autovacuum is off, so the database grows and becomes slow.',
    remedy: 'Switch autovacuum on.',
  },
  checkpointsBySize: {
    about: 'database',
    finding:
      'Most checkpoints ({{requested}} of {{all}}) were made because of the size of the WAL (max_wal_size is {{limit}}), which delays events under load.',
    remedy: 'Raise max_wal_size, as far as the disk allows, and checkpoint_timeout to 15min.',
  },
  fewBuffers: {
    about: 'database',
    finding:
      'The server keeps {{megabytes}} MB of pages in memory (shared_buffers), so under load events wait for pages that are written to make room.',
    remedy: 'Set shared_buffers to an eighth to a quarter of the memory of its machine.',
  },
  walCompression: {
    about: 'database',
    finding: 'The WAL is compressed with pglz, which delays events after the start of each checkpoint.',
    remedy: 'Set wal_compression to lz4, if the server has it, or to off.',
  },
  pagesWrittenLate: {
    about: 'database',
    finding:
      'Linux on the server of the database writes changed files after {{seconds}} s, all at once, which delays events under load.',
    remedy: 'Set vm.dirty_expire_centisecs to 200 and vm.dirty_writeback_centisecs to 100 there with sysctl.',
  },
  transactionIds: {
    about: 'database',
    finding:
      '{{percent}} % of the transaction ids of the database are used up; at 100 % it accepts no more events.',
    remedy:
      'End old transactions, prepared transactions and unused replication slots, so that autovacuum can free ids, or run VACUUM.',
  },

  schemaEmpty: {
    about: 'schema',
    finding: 'The database is empty.',
    remedy: 'Start the service, which creates the schema.',
  },
  migrationsWait: {
    about: 'schema',
    finding: 'Migrations that wait: {{migrations}}, the first of them {{first}}.',
    remedy: 'Make a backup and start the service, which applies them.',
  },
  schemaForeign: {
    about: 'schema',
    finding: 'The schema is not that of this version: {{reason}}.',
    remedy: 'Use the version that wrote the database.',
  },
  invalidIndexes: {
    about: 'schema',
    finding: 'These indexes are invalid and are not used: {{indexes}}.',
    remedy: 'Run REINDEX INDEX CONCURRENTLY for each of them.',
  },
  nextPartition: {
    about: 'schema',
    finding: 'The partition of events for the next month does not exist yet.',
    remedy: 'Let the service run: it creates partitions ahead of time, and otherwise with the first event.',
  },
  schemaFine: { about: 'schema', finding: 'The schema is that of this version.' },

  lateFollowUps: {
    about: 'work',
    finding:
      'Events whose incidents, alerts and deliveries have been waiting for more than a minute: {{events}}. Those that failed several times: {{failed}}.',
    remedy: 'Start the service if it does not run; otherwise its log says why (events_to_follow_up).',
  },
  lateMessages: {
    about: 'work',
    finding: 'Messages of devices that have not been read for more than five minutes: {{messages}}.',
    remedy: 'Start the service if it does not run; otherwise its log says why.',
  },
  failedMessages: {
    about: 'work',
    finding: 'Messages of devices that could not be processed: {{messages}}.',
    remedy:
      'Look at them with connections.getMessages, and use connections.replay when the cause is removed.',
  },
  deadDeliveries: {
    about: 'work',
    finding: 'Deliveries of webhooks that were given up: {{deliveries}}.',
    remedy: 'Check the receivers, and send them again with webhooks.redeliver.',
  },
  lateDeliveries: {
    about: 'work',
    finding: 'Deliveries of webhooks that are more than ten minutes late: {{deliveries}}.',
    remedy: 'Check that the service runs with webhooks in FEATURES.',
  },
  failedReports: {
    about: 'work',
    finding: 'Reports that failed in the last week: {{reports}}.',
    remedy: 'Their errors give the reason; generate them again.',
  },
  unsentReports: {
    about: 'work',
    finding: 'E-mail and files with reports of the last week that were not sent: {{reports}}.',
    remedy: 'The schedules of reports give the reasons.',
  },
  failingChannels: {
    about: 'work',
    finding: 'Channels that take no messages about alarms: {{names}}.',
    remedy: 'Open each channel, correct what its last error says, and test it.',
  },
  retentionFailed: {
    about: 'work',
    finding: 'The last run of retention failed: {{reason}}',
    remedy: 'Remove the cause, and call storage.runRetention.',
  },
  retentionLate: {
    about: 'work',
    finding: 'Retention has not run for {{days}} days.',
    remedy: 'Let the service run at night.',
  },
  workFine: { about: 'work', finding: 'No work is late, and nothing has failed.' },

  noBackup: {
    about: 'backups',
    finding: 'No backup has been made.',
    remedy: 'Set BACKUP_DIR to a folder on another disk or machine, or run gantry backup regularly.',
  },
  noBackupYet: {
    about: 'backups',
    finding: 'No backup has been made in BACKUP_DIR yet.',
    remedy:
      'Wait for the first one, which the service makes within a minute of its start. With BACKUP_SCHEDULE=manual, run gantry backup.',
  },
  backupFailed: {
    about: 'backups',
    finding: 'The last backup failed: {{reason}}',
    remedy:
      'Remove the cause. With a schedule, it is tried again within an hour; otherwise run gantry backup.',
  },
  backupOld: {
    about: 'backups',
    finding: 'The last complete backup is {{hours}} hours old.',
    remedy: 'Check that the service runs and BACKUP_SCHEDULE, or make one now: gantry backup.',
  },
  backupSameDisk: {
    about: 'backups',
    finding: 'Backups are on the disk of the data ({{folder}}), with which they would be lost.',
    remedy: 'Set BACKUP_DIR to a folder on another disk or machine, or copy the backups there.',
  },
  backupFine: { about: 'backups', finding: 'The last complete backup is {{hours}} hours old.' },

  nobodyTold: {
    about: 'work',
    finding: 'Nobody is told of alarms: no enabled alarm rule has a policy.',
    remedy:
      'Add a channel that reaches people and a policy that names them (Administration, Alarms), give the policy to alarm rules, and enable these.',
  },
  alarmsTold: { about: 'work', finding: 'Alarm rules of which people are told: {{rules}}.' },

  spoolFull: {
    about: 'gateways',
    finding:
      'The space for messages of devices on disk is filled to {{percent}} % of {{megabytes}} MB (GATEWAY_SPOOL_MB). When it is full, messages are lost.',
    remedy: 'Start the service and its database, which empties it, or raise GATEWAY_SPOOL_MB.',
  },
  spoolWaiting: {
    about: 'gateways',
    finding:
      'Messages of devices that wait on disk: {{messages}}. The oldest was received {{minutes}} minutes ago.',
    remedy: 'Start the service if it does not run; otherwise its log says why they cannot be stored.',
  },
  spoolAside: {
    about: 'gateways',
    finding:
      'Messages of devices in {{folder}} that were left aside, because they are damaged or were refused: {{files}}.',
    remedy: 'The log says why. Delete the files whose names end in .damaged when you no longer need them.',
  },
  lostMessages: {
    about: 'gateways',
    finding:
      'Messages of devices that were lost in the last week: {{messages}}, of {{connections}} connections.',
    remedy: 'Look at connections.getAll (lostMessages), and raise GATEWAY_SPOOL_MB if the disk has room.',
  },
  limitedMessages: {
    about: 'gateways',
    finding:
      'Connections that were refused messages in the last day, because they sent more than they may: {{connections}}.',
    remedy: 'Check what these devices send, or raise eventsPerMin of their sensors.',
  },
  gatewaysFine: { about: 'gateways', finding: 'No message of a device was lost in the last week.' },

  silentSensors: {
    about: 'sensors',
    finding: 'Silent sensors: {{silent}} of {{sensors}} ({{names}}).',
    remedy: 'Check their power and network, and HEARTBEAT_TIMEOUT_SECONDS.',
  },
  neverSeen: {
    about: 'sensors',
    finding: 'Sensors that have never reported: {{unseen}} of {{sensors}}.',
    remedy: 'Check the address and the API key in the devices, or delete the sensors.',
  },
  wrongClocks: {
    about: 'sensors',
    finding: 'Sensors whose clocks are off: {{wrong}} of {{sensors}} ({{names}}).',
    remedy:
      'Set them by NTP. If one is off by whole hours, correct the time zone of the device or of its connection.',
  },
  unusableTimes: {
    about: 'sensors',
    finding:
      'Sensors whose events had the time of receipt in the last week, because their own times cannot be used: {{unusable}} of {{sensors}} ({{names}}).',
    remedy: 'The messages of their connections name the field, its value and what would be right.',
  },
  sensorsFine: { about: 'sensors', finding: 'None of {{sensors}} sensors is silent.' },

  noAdministrator: {
    about: 'accounts',
    finding: 'There is no active administrator.',
    remedy: 'Run gantry admin create, or gantry admin reset-password with --activate.',
  },
  withoutSecondFactor: {
    about: 'accounts',
    finding: 'Administrators without a second factor: {{without}} of {{administrators}}.',
    remedy: 'Let each of them set one up (Account in the console).',
  },
  tokensExpire: {
    about: 'accounts',
    finding: 'API tokens in use that expire within {{days}} days: {{names}}.',
    remedy: 'Create new ones for these programs in time.',
  },
  accountsFine: { about: 'accounts', finding: 'Active administrators: {{administrators}}.' },
} as const satisfies Readonly<Record<string, Sentence>>;

/** The code of a finding. */
export type FindingCode = keyof typeof doctorSentences;

type TextsOf<Code extends FindingCode> = {
  [Each in Code]: (typeof doctorSentences)[Each] extends { readonly remedy: infer Remedy }
    ? Remedy | (typeof doctorSentences)[Each]['finding']
    : (typeof doctorSentences)[Each]['finding'];
}[Code];

/** The values of the sentences of a finding. */
export type FindingValues<Code extends FindingCode> = Readonly<Record<NamesIn<TextsOf<Code>>, SentenceValue>>;
