import { z } from 'zod';
import { configKeys } from '../../src/platform/config.ts';

interface Setting {
  readonly name: string;
  readonly description: string;
  readonly initial: string | null;
}

const settings = (): Setting[] =>
  Object.entries(configKeys).map(([name, schema]) => {
    const initial = z.safeParse(schema, undefined);
    // The parsed default (an absolute path, a list) differs from what a user would write.
    const written =
      schema instanceof z.ZodPipe ? z.toJSONSchema(schema, { io: 'input' }).default : initial.data;
    return {
      name,
      description: schema.description ?? '',
      initial: written === undefined || written === '' ? null : String(written),
    };
  });

/** docs/configuration.md */
export const configurationPage = (): string => {
  const rows = settings().map(
    ({ name, description, initial }) =>
      `| \`${name}\` | ${initial === null ? 'unset' : `\`${initial}\``} | ${description} |`,
  );
  return `# Configuration

Gantry is configured by environment variables, or by a file \`.env\` in the folder in which it is started
(copy \`.env.example\`). If a setting is invalid, the start fails with its name and the expected value.

| Setting | Default | Meaning |
|---|---|---|
${rows.join('\n')}

_Generated from \`server/src/platform/config.ts\` by \`npm run generate\`._
`;
};

/** .env.example */
export const environmentExample = (): string => {
  const entries = settings().map(
    ({ name, description, initial }) => `# ${description.replaceAll('`', '')}\n#${name}=${initial ?? ''}\n`,
  );
  return `# Copy this file to .env and uncomment the settings that you change. Generated: npm run generate\n\n${entries.join('\n')}`;
};
