import type { RequestContext } from '../platform/context.ts';
import { failureOf } from '../rpc/errors.ts';
import type { DeviceContext } from '../sensors/authenticate.ts';
import type { AppContext } from './context.ts';

/** Logs that a call of a device, or an event of a batch, was refused because of what the device sent. */
export function noteRefusedDevice(ctx: RequestContext<AppContext>, procedure: string, error: unknown): void {
  const { body, unexpected } = failureOf(error);
  const { code } = body.data;
  // Outages are logged as such, and a device repeats what was refused with 503 or timed out.
  if (unexpected || code === 'SERVICE_UNAVAILABLE' || code === 'TIMEOUT') return;
  const { address } = ctx.caller;
  const { sensor } = ctx as Partial<DeviceContext>;
  ctx.app.refusals.note(
    `${procedure} ${code} ${address} ${sensor?.id}`,
    'a call of a device was refused',
    () => ({
      address,
      sensorId: sensor?.id ?? null,
      sensor: sensor?.name ?? null,
      procedure,
      code,
      reason: body.message,
    }),
  );
}
