import type { AuthServices } from '../accounts/start.ts';
import { AddressRules, createOutbound } from '../platform/outbound.ts';
import { startPeriodic } from '../platform/periodic.ts';
import type { Foundation } from '../platform/start.ts';
import { createNoticeSender, type SendNotice, startSending } from './deliver.ts';
import { countOpenNotices, removeOldNotices } from './notices-store.ts';

/** The services of this module. */
export interface NoticeServices {
  /** Decides which addresses the requests of channels may be sent to. */
  readonly noticeUrls: AddressRules;
  /** Sends one message at once, without a row. */
  readonly sendNotice: SendNotice;
}

const REMOVAL_MS = 600_000;

/** Starts sending messages about alarms. */
export function startNotices(
  { core, listener, resources }: Foundation,
  { secrets }: Pick<AuthServices, 'secrets'>,
): NoticeServices {
  const { config, db, log, clock, timings, metrics } = core;
  const noticeUrls = new AddressRules(config.WEBHOOK_ALLOW_HOSTS);
  const app = { ...core, secrets };
  const sendNotice = createNoticeSender(app, createOutbound(noticeUrls, clock.now, timings));
  resources.use(
    startSending({
      app,
      send: sendNotice,
      listener,
      sweepMs: timings.sweepNoticesMs,
      mailMs: timings.mailMs,
    }),
  );
  const failure = 'old messages about alarms cannot be removed now';
  resources.use(
    startPeriodic({ everyMs: REMOVAL_MS, log, failure }, async (isOver) => {
      while (!isOver() && (await removeOldNotices(db)) > 0);
    }),
  );
  const uncounted = 'the messages about alarms cannot be counted for the metrics now';
  resources
    .use(
      startPeriodic({ everyMs: timings.countForMetricsMs, log, failure: uncounted }, async () => {
        const { pending, failed } = await countOpenNotices(db);
        metrics.notices.set({ state: 'pending' }, pending);
        metrics.notices.set({ state: 'failed' }, failed);
      }),
    )
    .startNow();
  return { noticeUrls, sendNotice };
}
