import { Agent, request } from 'node:http';

/** An answer with its body as text. */
export interface TextAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Connections are kept for the next call, as browsers and devices do. */
const agent = new Agent({ keepAlive: true });

/** Sends a request and reads the answer. `fetch` takes four times the processor time. */
export const send = (
  url: string,
  method: 'GET' | 'POST',
  headers: Readonly<Record<string, string>>,
  body?: string,
): Promise<TextAnswer> =>
  new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent }, (response) => {
      response.setEncoding('utf8');
      let text = '';
      response.on('data', (chunk: string) => (text += chunk));
      response.on('error', reject);
      response.on('end', () => {
        const { statusCode: status = 0, headersDistinct } = response;
        const received = new Headers();
        for (const [name, values = []] of Object.entries(headersDistinct)) {
          for (const value of values) received.append(name, value);
        }
        resolve({ status, headers: received, text });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
