import { connect, type Socket } from 'node:net';

/** An answer as received on the connection. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The parsed body; text that is not JSON stays text. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads answers as a client without types does
  readonly body: any;
}

const parseBody = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

const parseAnswer = (text: string): { answer: RawAnswer; rest: string } => {
  const end = text.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const status = Number(statusLine.split(' ')[1]);
  const length = status < 200 ? 0 : Number(headers['content-length'] ?? 0);
  const bytes = Buffer.from(text.slice(end + 4));
  return {
    answer: { status, headers, body: parseBody(bytes.toString('utf8', 0, length)) },
    rest: bytes.toString('utf8', length),
  };
};

const parseAnswers = (text: string): RawAnswer[] => {
  const answers: RawAnswer[] = [];
  for (let left = text; left.includes('\r\n\r\n'); ) {
    const { answer, rest } = parseAnswer(left);
    answers.push(answer);
    left = rest;
  }
  return answers;
};

const write = async (socket: Socket, bytes: string | Buffer): Promise<void> => {
  if (!socket.write(bytes)) await new Promise((resolve) => socket.once('drain', resolve));
};

/**
 * Sends bytes unchanged and returns the answers once the service closes the connection, so the last request must
 * contain `Connection: close`. Several pieces are sent one after another, with short pauses; nothing is read before all
 * are sent.
 */
export const sendRaw = async (url: string, ...pieces: (string | Buffer)[]): Promise<RawAnswer[]> => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.pause();
  const received: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => received.push(chunk));
  const closed = new Promise<void>((resolve, reject) => {
    socket.on('end', resolve);
    socket.on('error', reject);
    socket.setTimeout(10_000, () => reject(new Error('The connection stayed open')));
  });
  socket.pause();
  const sent = (async () => {
    for (const piece of pieces) {
      await write(socket, piece);
      if (pieces.length > 1) await new Promise((resolve) => setTimeout(resolve, 20));
    }
    socket.resume();
  })();
  try {
    await Promise.all([sent, closed]);
  } finally {
    socket.destroy();
  }
  return parseAnswers(Buffer.concat(received).toString('utf8'));
};

/** Sends one request with the given lines and returns the answer; an answer to HEAD has no body. */
export const requestRaw = async (
  url: string,
  requestLine: string,
  headers: readonly string[] = [],
  body: string | Buffer = '',
): Promise<RawAnswer> => {
  const head = [`${requestLine} HTTP/1.1`, 'Host: gantry.test', 'Connection: close', ...headers, '', ''];
  const bytes = Buffer.concat([Buffer.from(head.join('\r\n')), Buffer.from(body)]);
  const answer = (await sendRaw(url, bytes)).at(-1);
  if (!answer) throw new Error(`No answer to ${requestLine}`);
  return answer;
};
