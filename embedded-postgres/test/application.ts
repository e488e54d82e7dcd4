import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Application } from '../src/application.ts';

/** An application that embeds PostgreSQL. Its folders are in the temporary folder of the run. */
export const WEATHER: Application = {
  name: 'Weather',
  database: 'weather',
  folderSetting: 'WEATHER_DIR',
  serverSetting: 'WEATHER_SERVER',
  serverVersions: '15 to 18',
  sharedFolder: join(tmpdir(), 'weather-postgresql'),
  formerSharedFolder: join(tmpdir(), 'weather'),
};
