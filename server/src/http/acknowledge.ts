import { acknowledgementTexts } from '@gantry/contract/notice-texts';
import type { NoticeLanguage } from '@gantry/contract/notices';
import type { FastifyInstance, FastifyReply } from 'fastify';
import {
  type AcknowledgeGroup,
  acknowledgeByLink,
  findNoticeByToken,
  type LinkOutcome,
} from '../notices/acknowledge.ts';
import type { Core } from '../platform/context.ts';
import type { CallerOf } from '../rpc/exchange.ts';

const PATH = '/ack/:token';

const STATUSES: Readonly<Record<LinkOutcome, number>> = {
  done: 200,
  already: 409,
  closed: 409,
  forbidden: 403,
  notValid: 404,
};

/**
 * Serves the page of the links by which recipients of messages acknowledge alarms. GET, which programs that check mail
 * call, shows the message and a button; only POST changes something.
 */
export function serveAcknowledgement(
  server: FastifyInstance,
  app: Core,
  callerOf: CallerOf,
  acknowledge: AcknowledgeGroup,
): void {
  server.get<{ Params: { token: string } }>(PATH, async ({ params: { token } }, reply) => {
    const notice = await findNoticeByToken(app, token);
    if (!notice) return outcomePage(reply, 'en', 'notValid');
    const { language, subject, body, isUsed, mayAcknowledge, recipient } = notice;
    if (!mayAcknowledge) return outcomePage(reply, language, 'forbidden');
    const says = acknowledgementTexts(language);
    const message = [subject, ...body.split('\n\n')].map((part) => `<p>${escaped(part)}</p>`).join('\n');
    const action = isUsed
      ? `<p>${escaped(says.already)}</p>`
      : `<p>${escaped(says.explain(recipient.name))}</p>\n<form method="post"><button>${escaped(says.button)}</button></form>`;
    return page(reply, 200, language, `${message}\n<hr>\n${action}`);
  });

  server.post<{ Params: { token: string } }>(PATH, async (request, reply) => {
    const { address } = callerOf(request.raw, request.id);
    const { outcome, language } = await acknowledgeByLink(app, request.params.token, address, acknowledge);
    return outcomePage(reply, language, outcome);
  });
}

function outcomePage(reply: FastifyReply, language: NoticeLanguage, outcome: LinkOutcome): FastifyReply {
  const text = acknowledgementTexts(language)[outcome];
  return page(reply, STATUSES[outcome], language, `<p>${escaped(text)}</p>`);
}

const STYLE =
  'body{font:1rem/1.5 system-ui,sans-serif;max-width:40rem;margin:2rem auto;padding:0 1rem}p{white-space:pre-wrap;overflow-wrap:anywhere}button{font:inherit;padding:.75rem 1.5rem}';

/** A page that loads nothing, and that no search engine, proxy or other page keeps. */
function page(reply: FastifyReply, status: number, language: NoticeLanguage, content: string): FastifyReply {
  const { title } = acknowledgementTexts(language);
  const direction = language === 'ar' ? 'rtl' : 'ltr';
  return reply
    .code(status)
    .header('content-type', 'text/html; charset=utf-8')
    .header(
      'content-security-policy',
      "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    )
    .header('referrer-policy', 'no-referrer')
    .header('x-robots-tag', 'noindex')
    .send(
      `<!doctype html>\n<html lang="${language}" dir="${direction}">\n<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(title)}</title><style>${STYLE}</style></head>\n<body>\n<h1>${escaped(title)}</h1>\n${content}\n</body>\n</html>\n`,
    );
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escaped(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => ESCAPES[character] ?? '');
}
