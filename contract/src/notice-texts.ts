import type { Severity } from './events.ts';
import { MAX_PER_HOUR, type NoticeKind, type NoticeLanguage } from './notices.ts';

// The texts of messages about alarms, in the language of the recipient. Names and texts of rules are the operator's own.

/** What a message says about one alarm. */
export interface NoticedAlarm {
  readonly ruleName: string;
  readonly text: string | null;
  readonly severity: Severity;
  readonly isCleared: boolean;
  /** Since when, as it is shown. */
  readonly since: string;
  readonly value: string | null;
  readonly place: string | null;
  readonly runbook: string | null;
  /** Whether nothing but the rule may be said: the hit is not released. */
  readonly isWithheld: boolean;
}

export interface NoticeContent {
  readonly kind: Exclude<NoticeKind, 'TEST' | 'PLAN'>;
  readonly severity: Severity;
  readonly policyName: string;
  /** The alarms that are listed, most urgent first. */
  readonly alarms: readonly NoticedAlarm[];
  /** Number of alarms of the group, of which some may not be listed. */
  readonly total: number;
  /** Number of messages to this recipient that were withheld since the last one. */
  readonly withheld: number;
  /** The page of the alarms in the console; null if its address is not known. */
  readonly link: string | null;
}

interface Sentences {
  readonly kinds: Readonly<Record<NoticeContent['kind'], string | null>>;
  readonly severities: Readonly<Record<Severity, string>>;
  readonly alarms: (count: number) => string;
  readonly more: (count: number) => string;
  readonly since: (time: string) => string;
  readonly cleared: string;
  readonly notReleased: string;
  readonly runbook: string;
  readonly withheld: (count: number) => string;
  readonly console: string;
  readonly acknowledge: string;
  readonly test: (channel: string) => { readonly subject: string; readonly text: string };
  readonly code: (code: string, minutes: number) => { readonly subject: string; readonly text: string };
  readonly page: AcknowledgementTexts;
}

/** The texts of the page by which alarms are acknowledged. */
export interface AcknowledgementTexts {
  readonly title: string;
  readonly button: string;
  /** What the button does, and as whom. */
  readonly explain: (name: string) => string;
  readonly done: string;
  readonly already: string;
  readonly closed: string;
  readonly notValid: string;
  readonly forbidden: string;
}

const en: Sentences = {
  kinds: {
    FIRST: null,
    CHANGED: 'Changed',
    REPEAT: 'Still open',
    ESCALATED: 'Not acknowledged',
    CLEARED: 'Cleared',
    SUMMARY: 'Summary',
  },
  severities: { LOW: 'LOW', MEDIUM: 'MEDIUM', HIGH: 'HIGH', CRITICAL: 'CRITICAL' },
  alarms: (count) => (count === 1 ? '1 alarm' : `${count} alarms`),
  more: (count) => `and ${count} more`,
  since: (time) => `since ${time}`,
  cleared: 'cleared',
  notReleased: 'The details are shown in Gantry after they are released.',
  runbook: 'What to do',
  withheld: (count) =>
    count === 1
      ? `1 message to you was withheld: at most ${MAX_PER_HOUR} are sent in an hour.`
      : `${count} messages to you were withheld: at most ${MAX_PER_HOUR} are sent in an hour.`,
  console: 'Alarms in Gantry',
  acknowledge: 'Acknowledge within 24 hours',
  test: (channel) => ({
    subject: `Test of ${channel}`,
    text: `This is a test of the channel ${channel}. Messages about alarms arrive here.`,
  }),
  code: (code, minutes) => ({
    subject: `${code} is your code`,
    text: `${code} is the code for your contact in Gantry. It is valid for ${minutes} minutes. If you did not request it, ignore this message.`,
  }),
  page: {
    title: 'Acknowledge alarms',
    button: 'Acknowledge',
    explain: (name) => `This acknowledges the alarms of this message as ${name}.`,
    done: 'The alarms are acknowledged.',
    already: 'This link was used already.',
    closed: 'These alarms are closed: there is nothing left to acknowledge.',
    notValid: 'This link is not valid, or not any more. Log in to acknowledge alarms.',
    forbidden: 'You may not acknowledge alarms any more. Ask an administrator.',
  },
};

const tr: Sentences = {
  kinds: {
    FIRST: null,
    CHANGED: 'Değişti',
    REPEAT: 'Hâlâ açık',
    ESCALATED: 'Onaylanmadı',
    CLEARED: 'Sona erdi',
    SUMMARY: 'Özet',
  },
  severities: { LOW: 'DÜŞÜK', MEDIUM: 'ORTA', HIGH: 'YÜKSEK', CRITICAL: 'KRİTİK' },
  alarms: (count) => `${count} alarm`,
  more: (count) => `ve ${count} alarm daha`,
  since: (time) => `${time} itibarıyla`,
  cleared: 'sona erdi',
  notReleased: 'Ayrıntılar, serbest bırakıldıktan sonra Gantry’de gösterilir.',
  runbook: 'Yapılacaklar',
  withheld: (count) =>
    `Size gönderilecek ${count} mesaj gönderilmedi: bir saatte en fazla ${MAX_PER_HOUR} mesaj gönderilir.`,
  console: 'Gantry’deki alarmlar',
  acknowledge: '24 saat içinde onaylayın',
  test: (channel) => ({
    subject: `${channel} denemesi`,
    text: `Bu, ${channel} kanalının denemesidir. Alarm mesajları buraya gelir.`,
  }),
  code: (code, minutes) => ({
    subject: `Kodunuz ${code}`,
    text: `Gantry’deki iletişim bilginizin kodu ${code}. ${minutes} dakika geçerlidir. Bunu siz istemediyseniz bu mesajı dikkate almayın.`,
  }),
  page: {
    title: 'Alarmları onayla',
    button: 'Onayla',
    explain: (name) => `Bu mesajdaki alarmlar ${name} adına onaylanır.`,
    done: 'Alarmlar onaylandı.',
    already: 'Bu bağlantı daha önce kullanıldı.',
    closed: 'Bu alarmlar kapandı: onaylanacak bir şey kalmadı.',
    notValid: 'Bu bağlantı geçerli değil veya artık geçerli değil. Alarmları onaylamak için oturum açın.',
    forbidden: 'Artık alarmları onaylama yetkiniz yok. Bir yöneticiye başvurun.',
  },
};

const ar: Sentences = {
  kinds: {
    FIRST: null,
    CHANGED: 'تغيّر',
    REPEAT: 'ما زال قائمًا',
    ESCALATED: 'لم يُقَرّ به',
    CLEARED: 'انتهى',
    SUMMARY: 'ملخّص',
  },
  severities: { LOW: 'منخفض', MEDIUM: 'متوسط', HIGH: 'مرتفع', CRITICAL: 'حرج' },
  alarms: (count) => `عدد الإنذارات: ${count}`,
  more: (count) => `وإنذارات أخرى عددها ${count}`,
  since: (time) => `منذ ${time}`,
  cleared: 'انتهى',
  notReleased: 'تُعرض التفاصيل في Gantry بعد الإفراج عنها.',
  runbook: 'ما يجب فعله',
  withheld: (count) => `عدد الرسائل التي لم تُرسل إليك: ${count}. الحد الأقصى في الساعة: ${MAX_PER_HOUR}.`,
  console: 'الإنذارات في Gantry',
  acknowledge: 'للإقرار خلال 24 ساعة',
  test: (channel) => ({
    subject: `اختبار ${channel}`,
    text: `هذا اختبار للقناة ${channel}. تصل رسائل الإنذارات إلى هنا.`,
  }),
  code: (code, minutes) => ({
    subject: `الرمز ${code}`,
    text: `${code} هو رمز وسيلة الاتصال الخاصة بك في Gantry. صلاحيته بالدقائق: ${minutes}. إذا لم تطلبه فتجاهل هذه الرسالة.`,
  }),
  page: {
    title: 'الإقرار بالإنذارات',
    button: 'إقرار',
    explain: (name) => `يُقَرّ بإنذارات هذه الرسالة باسم ${name}.`,
    done: 'تم الإقرار بالإنذارات.',
    already: 'سبق استخدام هذا الرابط.',
    closed: 'أُغلقت هذه الإنذارات: لم يبقَ ما يُقَرّ به.',
    notValid: 'هذا الرابط غير صالح أو لم يعد صالحًا. سجّل الدخول للإقرار بالإنذارات.',
    forbidden: 'لم يعد مسموحًا لك بالإقرار بالإنذارات. راجع أحد المسؤولين.',
  },
};

const SENTENCES: Readonly<Record<NoticeLanguage, Sentences>> = { en, tr, ar };

/** Maximum number of alarms that a message lists. */
export const MAX_LISTED = 5;

/** The subject and the text of a message. The subject is one line, and also the content of an SMS. */
export function noticeText(language: NoticeLanguage, content: NoticeContent) {
  const says = SENTENCES[language];
  const { kind, severity, policyName, alarms, total } = content;
  const state = says.kinds[kind];
  const [only] = total === 1 ? alarms : [];
  const what = only ? headlineOf(only) : `${policyName}: ${says.alarms(total)}`;
  const subject = oneLine(`[${says.severities[severity]}] ${state ? `${state}: ` : ''}${what}`);
  const listed = alarms.slice(0, MAX_LISTED);
  const rest = total - listed.length;
  const parts = [
    `${policyName}: ${says.alarms(total)}${state ? ` (${state})` : ''}`,
    ...listed.map((alarm) => describe(says, alarm)),
    ...(rest > 0 ? [says.more(rest)] : []),
    ...(content.withheld > 0 ? [says.withheld(content.withheld)] : []),
    ...(content.link ? [`${says.console}: ${content.link}`] : []),
  ];
  return { subject, text: parts.join('\n\n') };
}

function headlineOf({ ruleName, place, value, isWithheld }: NoticedAlarm): string {
  const where = [place, value].filter((each) => each !== null && each !== '' && !isWithheld);
  return [ruleName, ...where].join(' · ');
}

function describe(says: Sentences, alarm: NoticedAlarm): string {
  const { severity, since, text, runbook, isCleared, isWithheld } = alarm;
  const lines = [
    `${says.severities[severity]} · ${oneLine(headlineOf(alarm))} · ${says.since(since)}${isCleared ? ` · ${says.cleared}` : ''}`,
    isWithheld ? says.notReleased : text,
    runbook ? `${says.runbook}: ${runbook}` : null,
  ];
  return lines.filter((line) => line !== null && line !== '').join('\n');
}

/** What precedes the link by which the alarms of a message can be acknowledged. */
export function acknowledgeBy(language: NoticeLanguage, link: string): string {
  return `${SENTENCES[language].acknowledge}: ${link}`;
}

/** The message of `channels.test`. */
export function testText(language: NoticeLanguage, channel: string) {
  const { subject, text } = SENTENCES[language].test(channel);
  return { subject: oneLine(subject), text };
}

/** The message with the code for a contact, valid for some minutes. */
export function codeText(language: NoticeLanguage, code: string, minutes: number) {
  return SENTENCES[language].code(code, minutes);
}

export function acknowledgementTexts(language: NoticeLanguage): AcknowledgementTexts {
  return SENTENCES[language].page;
}

/** Control characters and line breaks, which must not get into a subject. */
function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
}
