import { buffer } from 'node:stream/consumers';
import { mayDo } from '@gantry/contract/permissions';
import { MAX_ATTACHMENT_BYTES, type ReportKind, type SendTo } from '@gantry/contract/reports';
import { mayRolesSeePlates } from '../accounts/role-settings.ts';
import type { Core } from '../platform/context.ts';
import { startJobs } from '../platform/database/jobs.ts';
import { channels, type Listener } from '../platform/database/notify.ts';
import { createDeliverer } from '../platform/deliverer.ts';
import { safeText } from '../platform/describe-error.ts';
import type { Mail } from '../platform/mail.ts';
import type { AttemptResult } from '../platform/outbound.ts';
import {
  claimDispatches,
  type DispatchAttempt,
  findDispatched,
  findDueKinds,
  findRecipients,
  markDispatchFailed,
  markDispatchSent,
  passDispatchOn,
} from './dispatches-store.ts';
import { contentTypes, daysOf, fileNameOf, type ReportFiles } from './files.ts';
import { showsPlates } from './kinds.ts';
import type { ReportRow } from './store.ts';

/** Maximum number of concurrent attempts of this process for each kind of recipient, because each holds a file in memory. */
const MAX_PER_KIND = 2;

/** How much the interval of the sweep grows while nothing waits. */
const REST = 30;

/** When another machine may try to send a file that is not on this one, in milliseconds. */
const PASS_ON_MS = 5_000;

const ABSENT =
  'The file is not on this machine: it is in the data folder of the machine that made the report';

type Result = AttemptResult & { readonly isAbsent?: boolean };

const DONE: Result = { status: null, answer: null, error: null };
const failed = (error: string): Result => ({ ...DONE, error });
const refused = (error: string): Result => ({ ...failed(error), isPermanent: true });

export interface DispatchOptions {
  readonly app: Pick<Core, 'config' | 'db' | 'log' | 'mailer'>;
  readonly files: ReportFiles;
  /** Contains the folders of schedules. */
  readonly outFolder: (name: string) => string;
  readonly listener: Pick<Listener, 'on'>;
  /** How often to look for dispatches that are due, in milliseconds, which bounds the delay of retries. */
  readonly sweepMs: number;
  /** Maximum duration of sending an e-mail, in milliseconds. */
  readonly mailMs: number;
}

/**
 * Sends the reports of schedules, each at least once to each recipient, and again after each failure. Disposing waits for
 * the attempts in progress.
 */
export function startDispatching(options: DispatchOptions): AsyncDisposable {
  const { app, listener, sweepMs, mailMs } = options;
  const { db, log } = app;
  const runner = createDeliverer<DispatchAttempt>({
    ...{ log, limitMs: mailMs },
    failure: 'reports are sent later, with the next sweep',
    concurrency: MAX_PER_KIND,
    claim: (kind, most, leaseMs) => claimDispatches(db, kind, most, leaseMs),
    send: (attempt, ending) => dispatch({ ...options, ending }, attempt),
    succeed: (attempt) => markDispatchSent(db, attempt),
    fail: (attempt, { error, isAbsent }: Result, waitMs) =>
      isAbsent
        ? passDispatchOn(db, attempt, error ?? '', PASS_ON_MS)
        : markDispatchFailed(db, attempt, error, waitMs),
  });
  return startJobs({
    ...{ runner, listener, log },
    channel: channels.reportDispatches,
    everyMs: sweepMs,
    restMs: REST * sweepMs,
    failure: 'reports that are to be sent cannot be looked for now; the next sweep will try again',
    async sweep() {
      const { kinds, waits } = await findDueKinds(db);
      for (const kind of kinds) runner.wake(kind);
      return waits;
    },
  });
}

interface Dispatching extends DispatchOptions {
  /** Aborts when the process is about to end. */
  readonly ending: AbortSignal;
}

async function dispatch(options: Dispatching, attempt: DispatchAttempt): Promise<Result> {
  const { report, sendTo, letter } = await findDispatched(options.app.db, attempt);
  if (report === null || report.fileKey === null) return refused('The report was deleted');
  if (letter !== null)
    return sendFile(options, report, attempt.recipient, attempt, letter).catch((error: unknown) =>
      failed(safeText(error)),
    );
  if (sendTo === null) return refused('The schedule was deleted, or does not send its reports any more');
  const isWithPlates = !report.hidesPlates && showsPlates(report.kind);
  if (isWithPlates && !sendTo.withPlates)
    return refused('The file shows number plates, and the schedule does not send them (withPlates)');
  try {
    return await (attempt.kind === 'FOLDER'
      ? putInFolder(options, report, report.fileKey, attempt.recipient)
      : mail(options, report, { attempt, sendTo, isWithPlates }));
  } catch (error) {
    return failed(safeText(error));
  }
}

async function putInFolder(
  { files, outFolder }: DispatchOptions,
  report: ReportRow,
  fileKey: string,
  folder: string,
): Promise<Result> {
  // The id of the report keeps files apart, and tells whether an earlier attempt was completed.
  const name = fileNameOf(report).replace(/(?=\.\w+$)/, `_${report.id}`);
  return (await files.copyTo(fileKey, outFolder(folder), name))
    ? DONE
    : { ...failed(ABSENT), isAbsent: true };
}

interface Letter {
  readonly attempt: DispatchAttempt;
  readonly sendTo: SendTo;
  readonly isWithPlates: boolean;
}

async function mail(
  options: Dispatching,
  report: ReportRow,
  { attempt, sendTo, isWithPlates }: Letter,
): Promise<Result> {
  const { app } = options;
  const { config } = app;
  let to = attempt.recipient;
  if (attempt.kind === 'USER') {
    const [user] = await findRecipients(app.db, [to]);
    if (!user) return refused('The user was deleted or deactivated');
    if (!mayDo(user.role, 'viewReports'))
      return refused('The role of the user may not view reports any more');
    if (isWithPlates && !mayRolesSeePlates(config, user.role))
      return refused('The file shows number plates, which users of this role may not see');
    to = user.email;
  }
  const isLarge = (report.size ?? 0) > MAX_ATTACHMENT_BYTES;
  const letter = letterOf(report, sendTo.language, { isLarge, base: config.PUBLIC_URL });
  return sendFile(options, report, to, attempt, letter);
}

/** Sends an e-mail with the file of a report, unless that is too large. */
async function sendFile(
  { app: { config, mailer }, files, ending }: Dispatching,
  report: ReportRow,
  to: string,
  { id }: Pick<DispatchAttempt, 'id'>,
  letter: Pick<Mail, 'subject' | 'text'>,
): Promise<Result> {
  const { fileKey, size } = report;
  const isLarge = (size ?? 0) > MAX_ATTACHMENT_BYTES;
  const file = isLarge || fileKey === null ? null : await files.open(fileKey);
  if (!isLarge && file === null) return { ...failed(ABSENT), isAbsent: true };
  const host = config.SMTP_FROM?.address.split('@')[1] ?? 'gantry';
  const whole: Mail = {
    ...letter,
    to,
    messageId: `<report-${id}@${host}>`,
    attachments:
      file === null
        ? []
        : [
            {
              filename: fileNameOf(report),
              content: await buffer(file.stream),
              contentType: contentTypes[report.format],
            },
          ],
  };
  const sent = await mailer.send(whole, ending);
  // Without a mail server, reports wait for one.
  return sent.accepted
    ? DONE
    : { ...failed(sent.reason), isPermanent: sent.isPermanent && mailer.isConfigured };
}

interface Sentences {
  readonly kinds: Readonly<Record<ReportKind, string>>;
  readonly attached: string;
  readonly large: string;
  readonly console: string;
}

const SENTENCES: Readonly<Record<SendTo['language'], Sentences>> = {
  en: {
    kinds: {
      VIOLATIONS: 'Violations',
      EVENTS: 'Events',
      TRAFFIC: 'Traffic',
      INCIDENTS: 'Incidents',
      INCIDENT_PERFORMANCE: 'Incident performance',
      INCIDENT_CHRONOLOGY: 'Chronology of an incident',
      SENSOR_HEALTH: 'Sensor health',
      DAILY_SUMMARY: 'Daily summary',
    },
    attached: 'The report is attached.',
    large: 'The report is too large for an e-mail. Download it from the console, under Reports.',
    console: 'All reports, after signing in:',
  },
  tr: {
    kinds: {
      VIOLATIONS: 'İhlaller',
      EVENTS: 'Olaylar',
      TRAFFIC: 'Trafik',
      INCIDENTS: 'Vakalar',
      INCIDENT_PERFORMANCE: 'Vaka performansı',
      INCIDENT_CHRONOLOGY: 'Vaka kronolojisi',
      SENSOR_HEALTH: 'Sensör sağlığı',
      DAILY_SUMMARY: 'Günlük özet',
    },
    attached: 'Rapor ektedir.',
    large: 'Rapor bir e-posta için çok büyük. Konsoldan, Raporlar altından indirin.',
    console: 'Oturum açtıktan sonra tüm raporlar:',
  },
  ar: {
    kinds: {
      VIOLATIONS: 'المخالفات',
      EVENTS: 'الأحداث',
      TRAFFIC: 'حركة المرور',
      INCIDENTS: 'الحوادث',
      INCIDENT_PERFORMANCE: 'أداء معالجة الحوادث',
      INCIDENT_CHRONOLOGY: 'التسلسل الزمني لحادث',
      SENSOR_HEALTH: 'حالة المستشعرات',
      DAILY_SUMMARY: 'الملخص اليومي',
    },
    attached: 'التقرير مرفق.',
    large: 'التقرير أكبر من أن يُرسل بالبريد الإلكتروني. نزّله من لوحة التحكم، من صفحة التقارير.',
    console: 'جميع التقارير، بعد تسجيل الدخول:',
  },
};

/** What the e-mail with a report says. It names nothing of its content but the kind and the days. */
function letterOf(
  report: ReportRow,
  language: SendTo['language'],
  { isLarge, base }: { readonly isLarge: boolean; readonly base: string | undefined },
): Pick<Mail, 'subject' | 'text'> {
  const { kinds, attached, large, console: page } = SENTENCES[language];
  const days = daysOf(report).join(' – ');
  const title = report.kind === 'STUDY' ? days : `${kinds[report.kind]}, ${days}`;
  const link = base === undefined ? [] : [`${page}\n${base}/reports/files`];
  return {
    subject: `Gantry: ${title}`,
    text: `${[title, isLarge ? large : attached, ...link].join('\n\n')}\n`,
  };
}
