import { GantryError, type GantryErrorCode } from '@gantry/client';

/** An entry of the answer of a batch that could not be done. */
export interface FailedItem {
  readonly id: string;
  readonly error: { readonly code: string; readonly message: string };
}

/** Whether an entry of the answer of a batch failed. */
export function isFailed(result: object): result is FailedItem {
  return 'error' in result;
}

/** Why it failed, as if it had been a call of its own. */
export function errorOf({ error: { code, message } }: FailedItem): GantryError {
  return new GantryError(code as GantryErrorCode, message);
}
