import {
  apiToken,
  createApiTokenInput,
  createdApiToken,
  listApiTokensInput,
  MAX_API_TOKENS,
  revokedApiToken,
} from '@gantry/contract/api-tokens';
import { byId } from '@gantry/contract/id';
import { z } from 'zod';
import { createApiToken, revokeApiToken, viewApiTokens } from '../accounts/api-tokens.ts';
import { person, router } from './procedures.ts';

export const apiTokensRouter = router({
  create: person
    .meta({
      summary: 'Create an API token, with which a program acts for you',
      notes: `Requires the password of the user, and a code if they have a second factor; a wrong one is BAD_REQUEST and counts as a failed login. A user can have ${MAX_API_TOKENS}. The token is sent like that of a login, as \`Authorization: Bearer\`. It ends when it expires or is revoked, when its user is deactivated or deleted, when an administrator resets the password of its user, and when the user ends it with a change of the password or the second factor. If the role of its user is lowered, it acts with that role; if each of the two roles has permissions that the other lacks, it is refused. It cannot change passwords, accounts, sessions, second factors or API tokens (FORBIDDEN).`,
    })
    .input(createApiTokenInput)
    .output(createdApiToken)
    .mutation(({ ctx, input }) => createApiToken(ctx, input)),

  getAll: person
    .meta({
      summary: 'List the API tokens of the caller, the newest first',
      notes: 'With `userId`, those of another user, which requires the permission Manage Users.',
    })
    .input(listApiTokensInput)
    .output(z.array(apiToken))
    .query(({ ctx, input }) => viewApiTokens(ctx, input)),

  revoke: person
    .meta({
      summary: 'Revoke an API token',
      notes:
        'Takes effect on every process at once; streams end within 5 seconds. Users with the permission Manage Users can revoke any token, others only their own; any other id is NOT_FOUND.',
    })
    .input(byId)
    .output(revokedApiToken)
    .mutation(({ ctx, input }) => revokeApiToken(ctx, input.id)),
});
