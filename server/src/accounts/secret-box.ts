import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts secrets that are stored in the database, with a key that is not. */
export class SecretBox {
  readonly #key: Buffer;

  /** @param secret of the service; the key is derived from it */
  constructor(secret: string) {
    this.#key = Buffer.from(hkdfSync('sha256', secret, '', 'gantry secrets in the database', 32));
  }

  seal(text: string): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, iv);
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64');
  }

  /** null when it was sealed with another key, or is damaged. */
  open(sealed: string): string | null {
    const bytes = Buffer.from(sealed, 'base64');
    const start = IV_BYTES + TAG_BYTES;
    if (bytes.length < start) return null;
    const iv = bytes.subarray(0, IV_BYTES);
    const decipher = createDecipheriv(CIPHER, this.#key, iv, { authTagLength: TAG_BYTES });
    decipher.setAuthTag(bytes.subarray(IV_BYTES, start));
    try {
      return Buffer.concat([decipher.update(bytes.subarray(start)), decipher.final()]).toString('utf8');
    } catch {
      return null;
    }
  }
}
