import type { HitChange } from '@gantry/contract/hits';
import { type AnyMessage, anyMessage, followAnyInput } from '@gantry/contract/live';
import { mayDo, permissionNames } from '@gantry/contract/permissions';
import { type Topic, topic } from '@gantry/contract/realtime';
import { requirePermission, type SessionContext } from '../accounts/session.ts';
import { follow } from '../realtime/follow.ts';
import type { TopicPayloads } from '../realtime/items.ts';
import { messagesByTopic } from '../rpc/messages.ts';
import { permissionOf } from '../rpc/subscription.ts';
import { disabledFeature, requireFeature } from '../system/features.ts';
import { maySeeChange } from '../watchlist/hits.ts';
import { alarmsRouter } from './alarms.ts';
import { casesRouter } from './cases.ts';
import type { AppContext } from './context.ts';
import { eventsRouter } from './events.ts';
import { faultsRouter } from './faults.ts';
import { hitsRouter } from './hits.ts';
import { incidentsRouter } from './incidents.ts';
import { logRouter } from './log.ts';
import { router, signedIn } from './procedures.ts';
import { sensorsRouter } from './sensors.ts';
import { watchlistRouter } from './watchlist.ts';
import { worksRouter } from './works.ts';

/** The subscription of each topic. A caller who may not open it may not follow the topic here either. */
const subscriptions = {
  events: { path: 'events.onIngested', procedure: eventsRouter.onIngested },
  sensors: { path: 'sensors.onStatusChanged', procedure: sensorsRouter.onStatusChanged },
  incidents: { path: 'incidents.onChanged', procedure: incidentsRouter.onChanged },
  watchlist: { path: 'watchlist.onAlert', procedure: watchlistRouter.onAlert },
  hits: { path: 'hits.onHit', procedure: hitsRouter.onHit },
  alarms: { path: 'alarms.onChanged', procedure: alarmsRouter.onChanged },
  log: { path: 'log.onAdded', procedure: logRouter.onAdded },
  works: { path: 'works.onChanged', procedure: worksRouter.onChanged },
  faults: { path: 'faults.onChanged', procedure: faultsRouter.onChanged },
  cases: { path: 'cases.onChanged', procedure: casesRouter.onChanged },
} as const satisfies Record<Topic, object>;

/** The key of the payload in the messages of each topic. */
const names: { readonly [Each in Topic]: Exclude<keyof Extract<AnyMessage, { type: Each }>, 'type'> } = {
  events: 'event',
  sensors: 'change',
  incidents: 'change',
  watchlist: 'alert',
  hits: 'change',
  alarms: 'alarm',
  log: 'entry',
  works: 'change',
  faults: 'fault',
  cases: 'change',
};

function mayFollow({ app, actor }: SessionContext<AppContext>, each: Topic): boolean {
  const permission = permissionOf(subscriptions[each].procedure);
  return (
    (!permission || mayDo(actor.role, permission)) &&
    !disabledFeature(app.config, subscriptions[each].path, 'subscription')
  );
}

/** @throws AppError `forbidden` as the subscription of the topic does */
function requireTopic({ app, actor }: SessionContext<AppContext>, each: Topic): void {
  const permission = permissionOf(subscriptions[each].procedure);
  if (permission) requirePermission(actor, permission, permissionNames[permission]);
  requireFeature(app.config, subscriptions[each].path, 'subscription');
}

/**
 * The requested topics, each of which the caller must be allowed to follow; by default, all that the caller may
 * follow.
 */
function topicsFor(ctx: SessionContext<AppContext>, named: readonly Topic[] | undefined): readonly Topic[] {
  for (const each of named ?? []) requireTopic(ctx, each);
  return named ?? topic.options.filter((each) => mayFollow(ctx, each));
}

export const liveRouter = router({
  onAny: signedIn
    .meta({
      summary:
        'Stream events, sensor status changes, incident changes, alerts, hits, alarms, entries of the log, planned works, faults and cases in one stream',
      notes:
        'Sends what `events.onIngested`, `sensors.onStatusChanged`, `incidents.onChanged`, `watchlist.onAlert`, `hits.onHit`, `alarms.onChanged`, `log.onAdded`, `works.onChanged`, `faults.onChanged` and `cases.onChanged` send, without filters and in the order in which it was committed. `type` is the name of the topic; all other keys are those of the single subscriptions. A named topic is refused (FORBIDDEN) if its own subscription would be. `missed` counts messages of all topics together. Over HTTP/1.1, browsers open at most six connections to a host, and every stream occupies one: use this stream instead of several others.',
      message: anyMessage,
    })
    .input(followAnyInput)
    .subscription(({ ctx, input: { topics, lastEventId }, signal }) => {
      const request = {
        topics: topicsFor(ctx, topics),
        matches: (payload: TopicPayloads[Topic], each: Topic) =>
          each !== 'hits' || maySeeChange(ctx, payload as HitChange),
        lastEventId,
      };
      return messagesByTopic<AnyMessage, Topic>(names, follow(ctx, request, signal));
    }),
});
