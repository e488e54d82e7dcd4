import { createHash } from 'node:crypto';

/** The challenge of Digest with this algorithm in the WWW-Authenticate header of a 401. */
export const challengeOf = (
  header: string,
  algorithm: 'MD5' | 'SHA-256',
): { realm: string; nonce: string } => {
  const found = header
    .split(/(?=Digest )/)
    .find((each) => each.includes(`algorithm=${algorithm},`) || each.endsWith(`algorithm=${algorithm}`));
  const member = (name: string) => new RegExp(`${name}="([^"]*)"`).exec(found ?? '')?.[1] ?? '';
  return { realm: member('realm'), nonce: member('nonce') };
};

/** The Authorization header of a client, as RFC 7616 describes it. */
export const digestHeader = (of: {
  readonly algorithm: 'MD5' | 'SHA-256';
  readonly challenge: { realm: string; nonce: string };
  readonly username: string;
  readonly password: string;
  readonly method: string;
  readonly uri: string;
  readonly nc?: number;
}): string => {
  const { algorithm, challenge, username, password, method, uri } = of;
  const hash = (text: string) =>
    createHash(algorithm === 'MD5' ? 'md5' : 'sha256')
      .update(text)
      .digest('hex');
  const nc = String(of.nc ?? 1).padStart(8, '0');
  const ha1 = hash(`${username}:${challenge.realm}:${password}`);
  const response = hash(`${ha1}:${challenge.nonce}:${nc}:0a4f113b:auth:${hash(`${method}:${uri}`)}`);
  return `Digest username="${username}", realm="${challenge.realm}", nonce="${challenge.nonce}", uri="${uri}", algorithm=${algorithm}, response="${response}", qop=auth, nc=${nc}, cnonce="0a4f113b"`;
};
