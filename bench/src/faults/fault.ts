import type { GantryClient } from '@gantry/client';
import type { Destination } from './devices.ts';
import type { TcpProxy } from './proxy.ts';
import type { Victim, VictimOptions } from './victim.ts';

/** What a fault has at hand while devices send. */
export interface Scene {
  readonly victim: Victim;
  /** Another process of the same service, behind the same proxy; null unless the fault asks for it. */
  readonly second: Victim | null;
  /** The address of the database, past every proxy. An embedded one has another after each start of the service. */
  databaseUrl(): Promise<string>;
  /** The process of PostgreSQL's server. */
  postmaster(): Promise<number>;
  /** Between the service and its database; null unless the fault asks for `proxies: true`. */
  readonly databaseProxy: TcpProxy | null;
  /** Between devices and the service; null unless the fault asks for `proxies: true`. */
  readonly deviceProxy: TcpProxy | null;
  readonly destination: Destination;
  /** A client of the administrator at the service, logged in before the fault. */
  readonly client: GantryClient;
  /** A folder for what the fault needs. */
  readonly folder: string;
  /** Draws numbers: the same seed is the same fault. */
  readonly random: () => number;
  /** Something that the promise does not allow. */
  breach(sentence: string): void;
  /** Undone after the scene, the last one first. */
  onEnd(undo: () => Promise<unknown> | unknown): void;
}

/** One way in which something fails. */
export interface Fault {
  /** A word or two for `--only`. */
  readonly name: string;
  /** What fails, for people. */
  readonly title: string;
  /** How soon after its end the service has to take events again by itself, in seconds. */
  readonly recoversWithin: number;
  /** Whether the five-minute selection has it. */
  readonly isQuick: boolean;
  /** Whether service and database run apart, with a proxy in front of each. */
  readonly proxies?: boolean;
  /** Whether two processes serve behind the proxy of the devices. */
  readonly isTwofold?: boolean;
  /** How the service is started, besides the usual. */
  readonly options?: Partial<Pick<VictimOptions, 'env' | 'nodeArguments'>>;
  /** Why it cannot be tried here, in a sentence; null when it can. */
  readonly obstacle?: () => Promise<string | null>;
  /** Before the service starts. */
  readonly prepare?: (scene: {
    readonly dataDir: string;
    readonly folder: string;
    onEnd: Scene['onEnd'];
  }) => Promise<void>;
  /** Makes it fail while devices send, and returns when the fault is over. */
  readonly run: (scene: Scene) => Promise<void>;
}
