import { byId } from '@gantry/contract/id';
import { resetSecondFactorInput, secondFactorDone } from '@gantry/contract/second-factor';
import {
  activityLog,
  activityLogEntry,
  activityLogInput,
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
import {
  createUser,
  deleteUser,
  resetPassword,
  resetSecondFactor,
  updateRole,
  updateUser,
  viewActivity,
  viewActivityLog,
} from '../accounts/users.ts';
import { getUser, getUserOrFormerId, listUsers } from '../accounts/users-store.ts';
import { ADDRESS_GROUPS, listActivity, NOBODY } from '../activity/store.ts';
import { allowed, allowedPerson, pageOf, router } from './procedures.ts';

const administrators = allowed('manageUsers');

/** For changes of accounts, which API tokens may not make: a leaked token could outlive its revocation. */
const peopleOnly = allowedPerson('manageUsers');

export const usersRouter = router({
  getAll: administrators
    .meta({
      question: true,
      summary: 'List users, with search, filters and sorting',
      notes:
        '`search` matches part of the e-mail address or of "first name last name"; `department` must match as a whole. Both ignore case.',
    })
    .input(listUsersInput)
    .output(usersPage)
    .query(async ({ ctx, input }) => pageOf('users', await listUsers(ctx.app.db, input), input.take)),

  getById: administrators
    .meta({ summary: 'Get one user' })
    .input(byId)
    .output(user)
    .query(({ ctx, input }) => getUser(ctx.app.db, input.id)),

  create: peopleOnly
    .meta({
      summary: 'Add a user',
      notes:
        'The e-mail address is stored in lower case. An address that is already in use, in any case, is `BAD_REQUEST`.',
    })
    .input(createUserInput)
    .output(user)
    .mutation(({ ctx, input }) => createUser(ctx, input)),

  update: peopleOnly
    .meta({
      summary: "Change a user's profile, or activate or deactivate the user",
      notes:
        'Fields that are not given do not change; `null` clears `phone`, `department` or `avatar`. `isActive: false` ends the ' +
        "user's tokens at once. The last active administrator cannot be deactivated.",
    })
    .input(updateUserInput)
    .output(user)
    .mutation(({ ctx, input }) => updateUser(ctx, input)),

  delete: peopleOnly
    .meta({
      summary: 'Delete a user',
      notes:
        'The tokens of the user end at once, and the e-mail address can be used again. The name is kept with what the user did. The last active administrator cannot be deleted.',
    })
    .input(byId)
    .output(deleteUserOutput)
    .mutation(({ ctx, input }) => deleteUser(ctx, input.id)),

  updateRole: peopleOnly
    .meta({
      summary: 'Change the role of a user',
      notes:
        'The sessions of the user end at once, so the user must log in again. API tokens of the user have no more permissions than the new role. The last active administrator cannot be given another role.',
    })
    .input(updateRoleInput)
    .output(user)
    .mutation(({ ctx, input }) => updateRole(ctx, input)),

  resetPassword: peopleOnly
    .meta({
      summary: 'Set a new password for a user',
      notes:
        'Without `newPassword`, a password is generated and shown only in this answer. The sessions of the user end at ' +
        'once, and their API tokens are revoked. ' +
        'No e-mail is sent, so `sendEmail: true` is `BAD_REQUEST` and changes nothing.',
    })
    .input(resetPasswordInput)
    .output(resetPasswordOutput)
    .mutation(({ ctx, input }) => resetPassword(ctx, input)),

  resetSecondFactor: peopleOnly
    .meta({
      summary: 'Remove the second factor of another user, who has lost it',
      notes: 'The user can log in with the password alone until they set up another one.',
    })
    .input(resetSecondFactorInput)
    .output(secondFactorDone)
    .mutation(({ ctx, input }) => resetSecondFactor(ctx, input.userId)),

  getActivity: administrators
    .meta({
      question: true,
      summary: 'List what a user did, newest first',
      notes:
        'Failed logins (`auth.loginFailed`) are one entry per minute for each account and group of addresses, with a `count`: ' +
        `all addresses are divided into ${ADDRESS_GROUPS} groups. Those with an e-mail address that no active user has are ` +
        `listed under the user id \`${NOBODY}\`. Looks at plates (\`events.view\`) and views of other images (\`images.view\`) are one entry ` +
        'per ten minutes, and downloads of a report (`reports.download`) one per minute, with a `count`. Also works for deleted users.',
    })
    .input(getActivityInput)
    .output(activityOutput)
    .query(async ({ ctx, input }) => {
      const id = input.userId === NOBODY ? NOBODY : await getUserOrFormerId(ctx.app.db, input.userId);
      const { items, total } = await listActivity(ctx.app.db, id, input);
      return { userId: id, activities: items, totalActivities: total };
    }),

  getActivityLog: administrators
    .meta({
      question: true,
      summary: 'List what all users did, newest first, with filters',
      notes: 'Entries are made as described for `getActivity`.',
    })
    .input(activityLogInput)
    .output(activityLog)
    .query(({ ctx, input }) => viewActivityLog(ctx, input)),

  getActivityEntry: administrators
    .meta({ summary: 'Get one entry of the activity log' })
    .input(byId)
    .output(activityLogEntry)
    .query(({ ctx, input }) => viewActivity(ctx, input.id)),
});
