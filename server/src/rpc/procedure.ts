import type { Permission } from '@gantry/contract/permissions';
import type { z } from 'zod';
import type { Core, RequestContext } from '../platform/context.ts';

/** A call as guards see it. */
export interface GuardedCall {
  readonly path: string;
  readonly type: string;
  /**
   * Parses the input. Every guard calls it, even for procedures without input, so that broken JSON and wrong content
   * types are refused everywhere. It is called after the caller was admitted, except for devices, whose key is in the
   * input.
   */
  readonly readInput: () => unknown;
}

/** An admitted call, whose answer a guard may change. */
export interface ShownCall {
  readonly path: string;
  readonly type: string;
  /** The input, after validation. */
  readonly input: unknown;
  /** That of the answer or the message of a subscription, which has not checked it yet. */
  readonly schema: z.ZodType;
}

/** What a guard may add to the context besides the fields for the procedure. */
export interface Shown {
  /**
   * Decides what the caller is shown. It is called once for a call, also for a subscription.
   * @returns what makes of an answer, or of each message of a subscription, what is sent; null for what is sent as it is
   */
  readonly show?: ((call: ShownCall) => ((answer: unknown) => unknown) | null) | undefined;
}

/**
 * Admits a caller or throws. Returns additional fields of the procedure's context, synchronously if nothing had to be
 * looked up.
 */
export type Guard<More extends object, App = Core> = (
  ctx: RequestContext<App>,
  call: GuardedCall,
) => More | Promise<More>;

/** Information about a procedure besides its input and output. */
export interface ProcedureMeta<App = Core> {
  /** Who may call it; set by the builders. */
  access?: 'open' | 'signedIn' | 'device';
  permission?: Permission;
  /** Whether API tokens are refused; set by the builders. */
  needsLogin?: boolean;
  /** The guard that admits callers; set by the builders. */
  guard?: Guard<object, App>;
  /**
   * Whether its cost depends on the input, so that it runs on the connections for expensive queries
   * (`rpc/run.ts`).
   */
  question?: boolean;
  /** One sentence that says what it does. */
  summary?: string;
  /** Further rules, in Markdown. */
  notes?: string;
  /** Called with the error of a call that failed, and with the context, which lacks the guard's fields if the guard failed. */
  failed?: (ctx: RequestContext<App>, path: string, error: unknown) => void;
  /** Whether a query may also be called with POST, because its input may be too long for an address. */
  alsoPost?: boolean;
  /** Its weight in a batch, 1 by default; see MAX_BATCH_WEIGHT. */
  weight?: number;
  /** The schema of the messages of a subscription. */
  message?: z.ZodType;
}
