import type { GantryClient } from '@gantry/client';
import type { Destination } from './devices.ts';
import type { TcpProxy } from './proxy.ts';
import type { Target, TargetOptions } from './target.ts';

/** The tools of a fault while devices send. */
export interface Scene {
  readonly target: Target;
  /** Another process of the same service behind the same proxy; null unless the fault asks for it. */
  readonly second: Target | null;
  /** The URL of the database without proxies. That of an embedded database changes with each start of the service. */
  databaseUrl(): Promise<string>;
  /** The process id of the PostgreSQL server. */
  postmaster(): Promise<number>;
  /** Between the service and its database; null unless the fault sets `proxies: true`. */
  readonly databaseProxy: TcpProxy | null;
  /** Between devices and the service; null unless the fault sets `proxies: true`. */
  readonly deviceProxy: TcpProxy | null;
  readonly destination: Destination;
  /** A client of the service, logged in as administrator before the fault. */
  readonly client: GantryClient;
  /** A folder for files of the fault. */
  readonly folder: string;
  /** Random numbers: the same seed gives the same fault. */
  readonly random: () => number;
  /** Reports a violation of the promise. */
  breach(sentence: string): void;
  /** Registers a step to undo after the scene, in reverse order. */
  onEnd(undo: () => Promise<unknown> | unknown): void;
}

/** One kind of failure. */
export interface Fault {
  /** A short name for `--only`. */
  readonly name: string;
  /** A description of what fails. */
  readonly title: string;
  /** Time after the fault within which the service must accept events again by itself, in seconds. */
  readonly recoversWithin: number;
  /** Whether it is part of the selection that continuous integration runs (`--quick`). */
  readonly isQuick: boolean;
  /** Whether service and database run separately, with a proxy in front of each. */
  readonly proxies?: boolean;
  /** Whether two processes serve requests behind the proxy of the devices. */
  readonly isDouble?: boolean;
  /** Additional options for starting the service. */
  readonly options?: Partial<Pick<TargetOptions, 'env' | 'nodeArguments'>>;
  /** The reason why it cannot be tested here, as a sentence; null if it can. */
  readonly obstacle?: () => Promise<string | null>;
  /** Runs before the service starts. */
  readonly prepare?: (scene: {
    readonly dataDir: string;
    readonly folder: string;
    onEnd: Scene['onEnd'];
  }) => Promise<void>;
  /** Causes the failure while devices send, and returns when it is over. */
  readonly run: (scene: Scene) => Promise<void>;
}
