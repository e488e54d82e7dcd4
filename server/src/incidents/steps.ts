import type { Severity } from '@gantry/contract/events';
import type { StepInput, StepNotice } from '@gantry/contract/incident-work';
import type { Incident } from '@gantry/contract/incidents';
import type { PlanStep } from '@gantry/contract/plan-steps';
import { incidentTypeNames } from '@gantry/contract/values';
import { severityOfRank } from '../events/severity.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';
import { AppError, invalidInput } from '../platform/error.ts';
import { createLocalTime } from '../platform/local-time.ts';
import { getLocation } from '../sensors/locations-store.ts';
import { getAgency } from './agencies-store.ts';
import type { IncidentContext } from './change.ts';
import {
  deleteStep,
  findPlanOf,
  getPlanRow,
  insertStep,
  listStepRows,
  type PlanVersion,
  type StepRow,
} from './plans-store.ts';
import { getIncidentRow, type IncidentRow } from './store.ts';
import { findTimeSetBy } from './timeline-store.ts';
import { changeWork, nowFor, type WorkChange } from './work.ts';
import type { Work } from './work-store.ts';

// The steps of the plan of an incident.

/** Gives an incident another plan, in its present version, or none. @throws AppError as `changeIncident` does; `badRequest` without such a plan */
export function setPlan(
  ctx: IncidentContext,
  { id, planId }: { readonly id: string; readonly planId: string | null },
): Promise<Incident> {
  return changeWork(ctx, { id, action: 'setPlan' }, async (tx, before, work) => {
    const plan =
      planId === null
        ? null
        : await getPlanRow(tx, planId).catch((error: unknown) => {
            throw error instanceof AppError
              ? invalidInput('planId', 'No plan has this id: use the id of an existing one')
              : error;
          });
    const former = await findPlanOf(tx, before.id);
    if (
      (plan?.id ?? null) === (former?.planId ?? null) &&
      (plan?.version ?? null) === (former?.version ?? null)
    )
      return null;
    return {
      work: { ...work, planId: plan?.id ?? null, planVersion: plan?.version ?? null },
      details: { plan: { from: former?.name ?? null, to: plan?.name ?? null } },
    };
  });
}

/**
 * Records that a step is done; one that records a time sets it to now. Without effect if it is done already.
 * @throws AppError as `changeIncident` does; `badRequest` without such a step, or when the time would not be in order
 */
export function completeStep(ctx: IncidentContext, { id, key, note }: StepInput): Promise<Incident> {
  return changeWork(ctx, { id, action: 'completeStep', note }, (tx, before, work) =>
    finishStep(ctx, tx, before, work, { key, state: 'DONE', reason: null }),
  );
}

/** Records why a step is not done. @throws AppError as `completeStep`; `conflict` when it is done */
export function skipStep(
  ctx: IncidentContext,
  { id, key, reason }: { readonly id: string; readonly key: string; readonly reason: string },
): Promise<Incident> {
  return changeWork(ctx, { id, action: 'skipStep', note: reason }, (tx, before, work) =>
    finishStep(ctx, tx, before, work, { key, state: 'SKIPPED', reason }),
  );
}

/**
 * Opens a step again that was done or skipped by mistake, and takes back the time that it set, unless somebody has set
 * another one since. Without effect if it is open.
 * @throws AppError as `changeIncident` does; `badRequest` without such a step, or when times would not be in order
 */
export function reopenStep(
  ctx: IncidentContext,
  { id, key, reason }: { readonly id: string; readonly key: string; readonly reason: string },
): Promise<Incident> {
  return changeWork(ctx, { id, action: 'reopenStep', note: reason }, async (tx, before, work) => {
    const { plan, step } = await requireStep(tx, before.id, key);
    const former = await deleteStep(tx, plan, { incidentId: before.id, key });
    if (!former) return null;
    const { [step.sets ?? 'none']: own, ...others } = work.set as Partial<Record<string, number>>;
    const wasSet = step.sets && (await findTimeSetBy(tx, before.id, key, step.sets));
    const set = own !== undefined && own === wasSet ? others : work.set;
    const details = { step: { plan: plan.name, key, text: step.text, was: former } };
    return { work: { ...work, set }, details };
  });
}

async function finishStep(
  ctx: IncidentContext,
  tx: Transaction,
  before: IncidentRow,
  work: Work,
  { key, state, reason }: Pick<StepRow, 'key' | 'state' | 'reason'>,
): Promise<WorkChange | null> {
  const { plan, step } = await requireStep(tx, before.id, key);
  const done = (await listStepRows(tx, before.id, plan)).find((each) => each.key === key);
  if (done?.state === state) return null;
  if (done)
    throw new AppError('conflict', `“${step.text}” is ${done.state} already: nothing is to be done with it`);
  await insertStep(tx, plan, { incidentId: before.id, key, state, reason, userId: ctx.actor.id });
  const name = step.sets;
  const isSet = name !== null && work.set[name] === undefined;
  const set = state === 'DONE' && isSet ? { ...work.set, [name]: nowFor(ctx, work.times) } : work.set;
  return { work: { ...work, set }, details: { step: { plan: plan.name, key, text: step.text } } };
}

async function requireStep(
  db: Executor,
  incidentId: string,
  key: string,
): Promise<{ plan: PlanVersion; step: PlanStep }> {
  const plan = await findPlanOf(db, incidentId);
  if (!plan) throw invalidInput('key', 'The incident has no plan: choose one first (incidents.setPlan)');
  const step = plan.steps.find((each) => each.key === key);
  if (!step)
    throw invalidInput(
      'key',
      `The plan “${plan.name}” has no step ${JSON.stringify(key)} in its version ${plan.version}: use one of work.plan.steps`,
    );
  return { plan, step };
}

/** @throws AppError `badRequest` when required steps are open and no reason is given */
export async function requireSteps(
  tx: Transaction,
  incidentId: string,
  reason: string | null,
): Promise<void> {
  if (reason !== null) return;
  const plan = await findPlanOf(tx, incidentId);
  if (!plan) return;
  const finished = new Set((await listStepRows(tx, incidentId, plan)).map(({ key }) => key));
  const open = plan.steps.filter(({ key, required }) => required && !finished.has(key));
  if (open.length === 0) return;
  const names = open.map(({ text }) => `“${text}”`).join(', ');
  throw invalidInput(
    'note',
    `Required steps of the plan “${plan.name}” are open: ${names}. Complete or skip them, or give the reason as a note`,
  );
}

/** What a message to an agency says about an incident: its type and its severity in words, and where it is. */
export async function factsForAgencies(
  db: Executor,
  { type, severity, location, locationId }: IncidentRow,
): Promise<{ kind: string; place: string[] }> {
  const at = locationId === null ? null : await getLocation(db, locationId);
  const coordinates = location ?? at?.coordinates;
  const address = location?.address ?? at?.address;
  const road = [at?.road, at?.kilometre != null && `km ${at.kilometre}`, at?.direction].filter(Boolean);
  return {
    kind: `${incidentTypeNames[type]}, severity ${(severityOfRank(severity) ?? 'MEDIUM').toLowerCase()}`,
    place: [
      ...(at ? [at.name] : []),
      ...(address && address !== at?.name ? [address] : []),
      ...(road.length > 0 ? [road.join(', ')] : []),
      ...(coordinates ? [`${coordinates.latitude}, ${coordinates.longitude}`] : []),
    ],
  };
}

// Notices of steps. Nothing is sent before a person has seen it.

/** What a NOTIFY step would send. @throws AppError `badRequest` without such a step, or without an address */
export async function previewStepNotice(
  { app }: IncidentContext,
  { id, key }: { readonly id: string; readonly key: string },
): Promise<StepNotice> {
  const incident = await getIncidentRow(app.db, id);
  const { step } = await requireStep(app.db, incident.id, key);
  const { kind, agencyId } = step;
  if (kind !== 'NOTIFY' || agencyId === null)
    throw invalidInput('key', `“${step.text}” notifies nobody: use incidents.completeStep`);
  const agency = await getAgency(app.db, agencyId).catch((error: unknown) => {
    if (!(error instanceof AppError)) throw error;
    throw invalidInput(
      'key',
      'The agency of this step was deleted: notify it otherwise, and complete the step',
    );
  });
  if (agency.email === null)
    throw invalidInput('key', `${agency.name} has no e-mail address: an administrator can enter one`);
  const local = createLocalTime(app.settings.current());
  const { title, openedAt } = incident;
  const facts = await factsForAgencies(app.db, incident);
  const base = app.config.PUBLIC_URL;
  const lines = [
    step.text,
    '',
    title,
    `${facts.kind}, ${local.show(openedAt.getTime())}`,
    ...facts.place,
    ...(base === undefined ? [] : [`${base}/incidents/${incident.id}`]),
  ];
  return { agency: agency.name, to: agency.email, subject: title, text: lines.join('\n') };
}

/** A message to an agency. */
export interface Letter {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly severity: Severity;
}

/** Has a message sent once the transaction commits. @throws AppError `badRequest` when there is no way to send it */
export type SendLetter = (tx: Transaction, letter: Letter) => Promise<void>;

interface SeenNotice extends Pick<StepNotice, 'to' | 'subject' | 'text'> {
  readonly id: string;
  readonly key: string;
}

/**
 * Has the notice of a step sent as a person has seen it, and completes the step; of two who do so at once, one does.
 * @throws AppError `conflict` when the address has changed, or the step is done; `badRequest` as `completeStep`
 */
export async function sendStepNotice(
  ctx: IncidentContext,
  { id, key, to, subject, text }: SeenNotice,
  send: SendLetter,
): Promise<Incident> {
  const { agency, to: present } = await previewStepNotice(ctx, { id, key });
  if (to.toLowerCase() !== present)
    throw new AppError('conflict', `The address of ${agency} is ${present} now: look at the notice again`);
  return changeWork(ctx, { id, action: 'completeStep' }, async (tx, before, work) => {
    const change = await finishStep(ctx, tx, before, work, { key, state: 'DONE', reason: null });
    if (!change) throw new AppError('conflict', 'This step is done already: nothing was sent');
    await send(tx, { to: present, subject, text, severity: severityOfRank(before.severity) ?? 'MEDIUM' });
    return { ...change, details: { ...change.details, notice: { to: agency, subject } } };
  });
}
