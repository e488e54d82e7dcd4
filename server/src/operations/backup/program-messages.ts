import type { Config } from '../../platform/config.ts';
import type { BackupResult } from './make.ts';

/** What the process that makes a backup is told. */
export interface BackupJob {
  readonly config: Config;
  readonly connectionString: string;
  readonly folder: string;
  readonly keep: number;
}

/** What it says. A refusal is a sentence for people; a failure is one that may be stored. */
export type BackupMessage =
  | { readonly progress: number }
  | { readonly warning: string; readonly details: object }
  | { readonly made: BackupResult }
  | { readonly refusal: string }
  | { readonly failure: string };
