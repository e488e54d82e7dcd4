import { createHash, randomBytes } from 'node:crypto';
import { mayDo } from '@gantry/contract/permissions';
import { findActor } from '../accounts/session.ts';
import type { AuthServices } from '../accounts/start.ts';
import type { Core, RequestContext } from '../platform/context.ts';

/** 256 random bits as 64 hexadecimal characters. */
export function newApiKey(): string {
  return randomBytes(32).toString('hex');
}

/** SHA-256 of the key's text in hexadecimal: identifies keys without revealing them. */
export function fingerprintOf(apiKey: string): string {
  return createHash('sha256').update(apiKey).digest('hex');
}

/** How API keys appear to the public. @param areShown whether the settings show them in full */
export function publicKeyView(areShown: boolean): (apiKey: string) => string {
  return areShown ? asItIs : fingerprintOf;
}

/** Whether the caller sees API keys in full although the public does not. An invalid token counts as none. */
export async function seesKeys(ctx: RequestContext<Core & AuthServices>): Promise<boolean> {
  if (ctx.app.config.PUBLIC_SENSOR_KEYS) return false;
  const actor = await findActor(ctx);
  return actor !== null && mayDo(actor.role, 'manageSensors');
}

/** How API keys appear to the caller of a public procedure. */
export async function keyViewOf(
  ctx: RequestContext<Core & AuthServices>,
): Promise<(apiKey: string) => string> {
  return (await seesKeys(ctx)) ? asItIs : publicKeyView(ctx.app.config.PUBLIC_SENSOR_KEYS);
}

function asItIs(apiKey: string): string {
  return apiKey;
}
