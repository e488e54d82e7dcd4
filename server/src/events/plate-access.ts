import type { LookUpReason } from '@gantry/contract/events';
import type { ActorContext } from '../platform/context.ts';
import { AppError, invalidInput } from '../platform/error.ts';
import { given } from '../platform/given.ts';

/** The fields of a query that concern a plate. */
interface PlateSearch extends LookUpReason {
  /** undefined: the query does not filter by plate. */
  readonly licensePlateNumber?: string | undefined;
}

/** @throws AppError `forbidden` when plates are hidden from the role of the user */
export function requireSeesPlates({ actor }: ActorContext): void {
  if (actor.seesPlates) return;
  throw new AppError(
    'forbidden',
    `Number plates are hidden from your role ${actor.role}: an administrator can change the setting HIDE_PLATES_FROM`,
  );
}

/**
 * Checks a query that may filter by a plate, before it runs.
 * @throws AppError `forbidden` when plates are hidden from the role of the user; `badRequest` when the settings require
 * a reason or a purpose and there is none, or have no such purpose
 */
export function requirePlateSearch(
  ctx: ActorContext,
  { licensePlateNumber, reason, purpose }: PlateSearch,
): void {
  const { PLATE_SEARCH_REASON, PURPOSES } = ctx.app.config;
  if (licensePlateNumber === undefined) return;
  requireSeesPlates(ctx);
  if (PLATE_SEARCH_REASON && reason === undefined) {
    throw invalidInput('reason', 'Give a reason: this service requires one for every search for a plate');
  }
  if (purpose === undefined ? PURPOSES.size === 0 : PURPOSES.has(purpose)) return;
  if (PURPOSES.size === 0) {
    throw invalidInput('purpose', 'Leave out the purpose: the setting PURPOSES of this service has none');
  }
  throw invalidInput(
    'purpose',
    `Give the purpose of the search for a plate, one of ${[...PURPOSES.keys()].join(', ')}`,
  );
}

/** Why a plate is searched for, as far as it was given. */
export function reasonIn({ reason, purpose, caseNumber }: LookUpReason): LookUpReason {
  return given({ reason, purpose, caseNumber });
}
