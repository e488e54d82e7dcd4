import { z } from 'zod';

/** Maximum length of the text of a file, in characters, and of its bytes in base64. */
const MAX_FILE_LENGTH = 4_000_000;
const TOO_LONG = `A file may have ${MAX_FILE_LENGTH} characters: divide it`;

/** The fields of an input that contains a file. @param bytes what is said of its bytes */
export function fileInput(bytes: string) {
  return {
    text: z.string().max(MAX_FILE_LENGTH, TOO_LONG).optional().describe('The text of the file.'),
    base64: z.base64('Use base64').max(MAX_FILE_LENGTH, TOO_LONG).optional().describe(bytes),
  };
}

/** Whether an input contains one file. */
export function oneFile({
  text,
  base64,
}: {
  text?: string | undefined;
  base64?: string | undefined;
}): boolean {
  return (text === undefined) !== (base64 === undefined);
}

export const ONE_FILE = { path: ['text'], message: 'Send the file as text or as base64' };
