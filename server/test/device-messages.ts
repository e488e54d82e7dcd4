import { readFile } from 'node:fs/promises';

/** The folder with messages of real devices. */
export const deviceMessages = new URL('../../device-formats/test/messages/', import.meta.url);

/** The body of a message of a real device. */
export const devicePayload = (file: string): Promise<Buffer> => readFile(new URL(file, deviceMessages));
