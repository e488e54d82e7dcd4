import { createHash, randomBytes } from 'node:crypto';
import { mayDo } from '@gantry/contract/permissions';
import { findActor } from '../auth/session.ts';
import type { AuthServices } from '../auth/start.ts';
import type { Core, RequestContext } from '../platform/context.ts';

/** 256 random bits as 64 hexadecimal characters. */
export const newApiKey = (): string => randomBytes(32).toString('hex');

/** SHA-256 of the key's text, in hexadecimal: tells keys apart and is of no use for speaking as the sensor. */
export const fingerprintOf = (apiKey: string): string => createHash('sha256').update(apiKey).digest('hex');

const asItIs = (apiKey: string): string => apiKey;

/** How API keys are shown to everybody. @param areShown whether the settings show them as they are */
export const publicKeyView = (areShown: boolean): ((apiKey: string) => string) =>
  areShown ? asItIs : fingerprintOf;

/** Whether the caller is shown more of API keys than everybody. A token that is no longer good counts as none. */
export const seesKeys = async (ctx: RequestContext<Core & AuthServices>): Promise<boolean> => {
  if (ctx.app.config.PUBLIC_SENSOR_KEYS) return false;
  const actor = await findActor(ctx);
  return actor !== null && mayDo(actor.role, 'manageSensors');
};

/** How the caller of a public procedure gets to see API keys. */
export const keyViewOf = async (
  ctx: RequestContext<Core & AuthServices>,
): Promise<(apiKey: string) => string> =>
  (await seesKeys(ctx)) ? asItIs : publicKeyView(ctx.app.config.PUBLIC_SENSOR_KEYS);
