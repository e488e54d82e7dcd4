import { byId } from '@gantry/contract/id';
import { pageCount } from '@gantry/contract/page';
import {
  activityOutput,
  createUserInput,
  deleteUserOutput,
  getActivityInput,
  listUsersInput,
  resetPasswordInput,
  resetPasswordOutput,
  updateRoleInput,
  updateUserInput,
  user,
  usersPage,
} from '@gantry/contract/users';
import { listActivity, NOBODY } from '../activity/store.ts';
import { createUser, deleteUser, resetPassword, updateRole, updateUser } from '../users/service.ts';
import { getUser, getUserOrFormerId, listUsers } from '../users/store.ts';
import { allowed, router } from './procedures.ts';

const administrators = allowed('manageUsers');

export const usersRouter = router({
  getAll: administrators
    .meta({
      question: true,
      summary: 'Search, filter, sort and page through the users',
      notes:
        '`search` looks into the e-mail and into "first name last name"; `department` is compared whole. Neither minds case.',
    })
    .input(listUsersInput)
    .output(usersPage)
    .query(async ({ ctx, input }) => {
      const { items, total } = await listUsers(ctx.app.db, input);
      return { users: items, total, pageCount: pageCount(total, input.take) };
    }),

  getById: administrators
    .meta({ summary: 'One user' })
    .input(byId)
    .output(user)
    .query(({ ctx, input }) => getUser(ctx.app.db, input.id)),

  create: administrators
    .meta({
      summary: 'Add a user',
      notes: 'The e-mail is kept in lower case; one that is in use, in whatever case, is `BAD_REQUEST`.',
    })
    .input(createUserInput)
    .output(user)
    .mutation(({ ctx, input }) => createUser(ctx, input)),

  update: administrators
    .meta({
      summary: "Change a user's profile, or switch them on or off",
      notes:
        'Fields that are left out stay; `null` clears `phone`, `department` or `avatar`. `isActive: false` ends the ' +
        "user's tokens at once. The last active administrator cannot be switched off.",
    })
    .input(updateUserInput)
    .output(user)
    .mutation(({ ctx, input }) => updateUser(ctx, input)),

  delete: administrators
    .meta({
      summary: 'Delete a user',
      notes:
        'Their tokens end at once and the e-mail is free again. Their name stays with what they did. The last active administrator cannot be deleted.',
    })
    .input(byId)
    .output(deleteUserOutput)
    .mutation(({ ctx, input }) => deleteUser(ctx, input.id)),

  updateRole: administrators
    .meta({
      summary: 'Give a user another role',
      notes: 'Their tokens end at once, so they log in again. The last active administrator keeps the role.',
    })
    .input(updateRoleInput)
    .output(user)
    .mutation(({ ctx, input }) => updateRole(ctx, input)),

  resetPassword: administrators
    .meta({
      summary: 'Set a new password for a user',
      notes:
        'Without `newPassword` one is generated and answered this once. The tokens of the user end at once. ' +
        'No mail is sent, so `sendEmail: true` is `BAD_REQUEST` and changes nothing.',
    })
    .input(resetPasswordInput)
    .output(resetPasswordOutput)
    .mutation(({ ctx, input }) => resetPassword(ctx, input)),

  getActivity: administrators
    .meta({
      question: true,
      summary: 'What a user did, newest first',
      notes:
        'Failed logins (`auth.loginFailed`) are one entry a minute for each address, with a `count`. Those with an e-mail ' +
        `that no active user has are told under the user id \`${NOBODY}\`. Who looks at a picture (\`images.view\`) leaves one ` +
        'entry for it in ten minutes, and who fetches the file of a report (`reports.download`) one a minute with a `count`. Also of one who was deleted.',
    })
    .input(getActivityInput)
    .output(activityOutput)
    .query(async ({ ctx, input }) => {
      const id = input.userId === NOBODY ? NOBODY : await getUserOrFormerId(ctx.app.db, input.userId);
      const { items, total } = await listActivity(ctx.app.db, id, input);
      return { userId: id, activities: items, totalActivities: total };
    }),
});
