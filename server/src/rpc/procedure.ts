import type { Permission } from '@gantry/contract/permissions';
import type { z } from 'zod';
import type { Core, RequestContext } from '../platform/context.ts';

/** A call, as far as it matters for who is let in. */
export interface GuardedCall {
  readonly path: string;
  readonly type: string;
  /**
   * Parses the input, once. A guard asks for it after the caller was admitted, of a procedure that takes none too, so that
   * broken JSON or a wrong type of body is refused everywhere.
   */
  readonly readInput: () => unknown;
}

/** Lets a caller in, or throws. It answers what the procedure's context has more, at once if nothing had to be looked up. */
export type Guard<More extends object, App = Core> = (
  ctx: RequestContext<App>,
  call: GuardedCall,
) => More | Promise<More>;

/** What the API documents say of a procedure beyond its input and output. */
export interface ProcedureMeta<App = Core> {
  /** Who may call it; filled in by the builders below. */
  access?: 'open' | 'signedIn' | 'device';
  permission?: Permission;
  /** Lets them in; filled in with it. */
  guard?: Guard<object, App>;
  /** Whether its cost depends on what is asked, so that it is answered as a question (`rpc/questions.ts`). */
  question?: boolean;
  /** One sentence: what it does. */
  summary?: string;
  /** Rules worth knowing, in Markdown. */
  notes?: string;
  /** How much of a batch it takes up, 1 unless it is said; see MAX_BATCH_WEIGHT. */
  weight?: number;
  /** What each message of a subscription is. */
  message?: z.ZodType;
}
