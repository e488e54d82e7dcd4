import type { ActorContext } from '../platform/context.ts';
import { AppError, invalidInput } from '../platform/error.ts';

/** The fields of a query that concern a plate. */
interface PlateSearch {
  /** undefined: the query does not filter by plate. */
  readonly licensePlateNumber?: string | undefined;
  readonly reason?: string | undefined;
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
 * a reason and there is none
 */
export function requirePlateSearch(ctx: ActorContext, { licensePlateNumber, reason }: PlateSearch): void {
  if (licensePlateNumber === undefined) return;
  requireSeesPlates(ctx);
  if (ctx.app.config.PLATE_SEARCH_REASON && reason === undefined) {
    throw invalidInput('reason', 'Give a reason: this service requires one for every search for a plate');
  }
}
