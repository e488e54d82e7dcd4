import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createTokens } from '../src/accounts/tokens.ts';

// Public test suites, if SUITES_DIR points to them: JSONTestSuite's test_parsing, blns.json of the big list of
// naughty strings, and wycheproof's json_web_signature_test.json. They are not part of the repository.

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** The ways in which a suite uses the service. */
export interface Reach {
  /** Writes a text into an ordinary field; undefined if there is no such field. */
  text(name: string, text: string): Promise<{ status: number; read?: () => Promise<unknown> }> | undefined;
  send(path: string, type: string, body: string): Promise<Answer>;
  /** Sends bytes as the body of a mutation. */
  sendBytes(bytes: Uint8Array<ArrayBuffer>): Promise<Answer>;
  /** Asks for the current user, with a token. */
  fetchAs(bearer: string): Promise<Answer>;
  expectHarmless(answer: Answer): void;
}

const folder = process.env.SUITES_DIR ?? '';
const suite = (name: string) => {
  const path = join(folder, name);
  const isThere = folder !== '' && existsSync(path);
  return { path, isThere, title: isThere ? name : `${name} (skipped: SUITES_DIR does not have it)` };
};

const codeOf = (text: string): string => JSON.parse(text).error?.json.data.code ?? 'OK';

const readJsonTestSuite = ({ sendBytes, expectHarmless }: Reach): void => {
  const { path, isThere, title } = suite('test_parsing');
  describe.skipIf(!isThere)(title, () => {
    const names = isThere ? readdirSync(path).filter((name) => name.endsWith('.json')) : [''];
    it.each(names)('%s', async (name) => {
      const answer = await sendBytes(new Uint8Array(readFileSync(join(path, name))));
      expectHarmless(answer);
      // This file is empty, and an empty body counts as no input.
      if (name.startsWith('n_') && name !== 'n_structure_no_data.json') {
        expect(['PARSE_ERROR', 'BAD_REQUEST']).toContain(codeOf(answer.text));
      }
      if (name.startsWith('y_')) expect(codeOf(answer.text)).not.toBe('PARSE_ERROR');
    });
  });
};

const PLACES = [
  'description of an event',
  'metadata of an event',
  'name of a location',
  'title of an incident',
];

const readNaughtyStrings = ({ text: write, send, expectHarmless }: Reach): void => {
  const { path, isThere, title } = suite('blns.json');
  describe.skipIf(!isThere)(title, () => {
    const strings: string[] = isThere ? JSON.parse(readFileSync(path, 'utf8')) : [];
    it.each(PLACES)('as %s', async (place) => {
      for (const string of strings) {
        const written = await write(place, string);
        if (!written?.read) expect(written?.status, string).toBe(400);
        else expect(String((await written.read()) ?? '').trim(), string).toBe(string.trim());
      }
    });
    it('as a search text', async () => {
      for (const search of strings) {
        expectHarmless(await send('sensors.getAll', 'query', JSON.stringify({ json: { search } })));
        expectHarmless(await send('events.getById', 'query', JSON.stringify({ json: { id: search } })));
        const filter = { licensePlateNumber: search, vehicleType: search, locationName: search };
        expectHarmless(await send('events.getAll', 'query', JSON.stringify({ json: filter })));
      }
    });
  });
};

interface SignatureGroup {
  readonly private?: { readonly kty: string; readonly k?: string };
  readonly public?: { readonly kty: string; readonly k?: string };
  readonly tests: readonly {
    readonly tcId: number;
    readonly comment: string;
    readonly jws: string | object;
  }[];
}

const readSignatures = ({ fetchAs }: Reach): void => {
  const { path, isThere, title } = suite('json_web_signature_test.json');
  describe.skipIf(!isThere)(title, () => {
    const groups: SignatureGroup[] = isThere ? JSON.parse(readFileSync(path, 'utf8')).testGroups : [];
    it('no signature of others is accepted', async () => {
      for (const { tests } of groups) {
        for (const { tcId, comment, jws } of tests) {
          const bearer = typeof jws === 'string' ? jws : JSON.stringify(jws);
          // Only texts of printable ASCII characters can be sent in a header.
          if (/[^\x20-\x7e]/.test(bearer) || bearer.trim() === '') continue;
          expect((await fetchAs(bearer)).status, `${tcId} ${comment}`).toBe(401);
        }
      }
    });
    it('nor is one made with the secret of the service, but not by it', async () => {
      for (const group of groups) {
        const { kty, k = '' } = group.private ?? group.public ?? { kty: '' };
        const secret = Buffer.from(k, 'base64url').toString('latin1');
        if (kty !== 'oct' || Buffer.byteLength(secret) < 32) continue;
        const tokens = await createTokens(secret, Date.now);
        for (const { jws } of group.tests) expect(await tokens.verify(String(jws))).toBeNull();
      }
    });
  });
};

/** Declares the tests of the public suites; each is skipped if it is not available. */
export const readSuites = (reach: Reach): void => {
  readJsonTestSuite(reach);
  readNaughtyStrings(reach);
  readSignatures(reach);
};
