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

/** What a guard may add to the context besides the fields for the procedure. */
export interface Shown {
  /**
   * Changes what the caller is shown: an answer, or each message of a subscription.
   * @param schema that of the answer or the message, which has not checked it yet
   */
  readonly show?: ((answer: unknown, schema: z.ZodType) => unknown) | undefined;
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
