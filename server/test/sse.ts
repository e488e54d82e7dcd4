/** One message of a stream of server-sent events. */
export interface StreamMessage {
  readonly id: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads messages as a client without types does
  readonly data: any;
}

/** A stream of a subscription as read by a client without a library. */
export interface Stream {
  readonly status: number;
  readonly headers: Headers;
  /** The messages so far; dates are ISO text. */
  readonly messages: readonly StreamMessage[];
  /** The error that the service sent, if any. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads messages as a client without types does
  readonly error: any;
  /** Resolves when the stream has ended for any reason. */
  readonly ended: Promise<void>;
  close(): void;
}

export interface StreamOptions {
  readonly token?: string;
  readonly input?: object;
  readonly lastEventId?: string;
}

/** Opens a subscription of the service at the address. */
export const openStream = async (
  base: string,
  procedure: string,
  { token, input = {}, lastEventId }: StreamOptions,
): Promise<Stream> => {
  const leaving = new AbortController();
  const response = await fetch(
    `${base}/trpc/${procedure}?input=${encodeURIComponent(JSON.stringify({ json: input }))}`,
    {
      signal: leaving.signal,
      headers: {
        accept: 'text/event-stream',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
      },
    },
  );
  const messages: StreamMessage[] = [];
  let error: unknown = null;

  const take = (block: string): void => {
    const fields = new Map(
      block.split('\n').map((line): [string, string] => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon), line.slice(colon + 1).trimStart()];
      }),
    );
    const event = fields.get('event') ?? 'message';
    const data = fields.get('data') ?? '';
    if (event === 'serialized-error') error = JSON.parse(data).json;
    if (event === 'message' && data !== '')
      messages.push({ id: fields.get('id') ?? '', data: JSON.parse(data).json });
  };

  const read = async (): Promise<void> => {
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      const blocks = text.split(/\n\n+/);
      text = blocks.pop() ?? '';
      for (const block of blocks) take(block.trim());
    }
  };

  return {
    status: response.status,
    headers: response.headers,
    messages,
    get error() {
      return error;
    },
    // A closed connection is an ordinary end.
    ended: read().catch(() => undefined),
    close: () => leaving.abort(),
  };
};
