import type { Config } from '../../platform/config.ts';
import type { BackupResult } from './make.ts';

/** The message that starts the process that makes a backup. */
export interface BackupJob {
  readonly config: Config;
  readonly connectionString: string;
  readonly folder: string;
  readonly keep: number;
}

/** A message from that process. A refusal is a sentence for users; a failure is a text that may be stored. */
export type BackupMessage =
  | { readonly progress: number }
  | { readonly warning: string; readonly details: object }
  | { readonly made: BackupResult }
  | { readonly refusal: string }
  | { readonly failure: string };
