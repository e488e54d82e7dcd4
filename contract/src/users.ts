import { z } from 'zod';
import { id } from './id.ts';
import { pageTotals, paging, sortOrder } from './page.ts';
import { role } from './permissions.ts';
import { person } from './person.ts';
import {
  editableText,
  isStorableText,
  optionalText,
  searchText,
  text,
  trimmedText,
  UNSTORABLE,
} from './text.ts';
import { timeRange } from './time.ts';

/** A person who can log in. Unknown fields are omitted. */
export const user = z.object({
  id: z.string(),
  email: z.string(),
  firstName: z.string(),
  lastName: z.string(),
  role,
  phone: z.string().optional(),
  avatar: z.string().optional(),
  department: z.string().optional(),
  isActive: z.boolean(),
  lastLogin: z.date().optional(),
  createdAt: z.date(),
  updatedAt: z.date(),
});
export type User = z.infer<typeof user>;

/** The password rules, each with a message that says what is missing. */
export const passwordRules = [
  { pattern: /^.{8,}$/su, says: 'Use at least 8 characters' },
  { pattern: /\p{Lu}/u, says: 'Use at least one uppercase letter' },
  { pattern: /\p{Ll}/u, says: 'Use at least one lowercase letter' },
  { pattern: /\p{Nd}/u, says: 'Use at least one number' },
  { pattern: /[^\p{L}\p{N}\s]/u, says: 'Use at least one special character' },
] as const;

/**
 * The form of a password that is checked and hashed (NFKC), because systems differ in how they encode the same characters
 * (NIST SP 800-63B, section 5.1.1.2).
 */
export function normalizePassword(password: string): string {
  return password.normalize('NFKC');
}

/** The messages of the rules that a password breaks; empty if it meets all. */
export function passwordFlaws(password: string): string[] {
  const normalized = normalizePassword(password);
  return passwordRules.filter(({ pattern }) => !pattern.test(normalized)).map(({ says }) => says);
}

export const password = text(200).check((ctx) => {
  for (const message of passwordFlaws(ctx.value)) {
    ctx.issues.push({ code: 'custom', message, input: ctx.value });
  }
});

/** E-mail addresses are compared without regard to case and stored in lower case. */
export const email = z
  .string()
  .max(320, 'Use a valid e-mail address')
  .transform((value) => value.trim().toLowerCase())
  .pipe(z.email('Use a valid e-mail address').max(254));

/** A page of users contains their avatars, so their size is limited. */
const AVATAR_MAX = 140_000;
const avatar = z
  .string()
  .max(AVATAR_MAX, 'Use an image of at most 100 KB')
  .refine(isStorableText, UNSTORABLE)
  .refine(isAvatar, 'Use an http(s) address or a base64 image');

const personName = trimmedText(100, 1);

export const createUserInput = z.object({
  email,
  password,
  firstName: personName,
  lastName: personName,
  role: role.default('VIEWER'),
  phone: optionalText(50),
  department: optionalText(100),
});
export type CreateUserInput = z.infer<typeof createUserInput>;

export const updateUserInput = z.object({
  id,
  firstName: personName.optional(),
  lastName: personName.optional(),
  phone: editableText(50),
  department: editableText(100),
  avatar: avatar.nullable().optional(),
  isActive: z.boolean().optional(),
});
export type UpdateUserInput = z.infer<typeof updateUserInput>;

/** Identifies a user by `id` or, as in `users.resetPassword`, by `userId`. */
const userReference = z
  .object({ id: id.optional().describe('The user; or send `userId`.'), userId: id.optional() })
  .refine((value) => (value.id ?? value.userId) !== undefined, {
    path: ['userId'],
    message: 'Name the user',
  })
  .refine(({ id, userId }) => id === undefined || userId === undefined || id === userId, {
    path: ['userId'],
    message: 'id and userId name different users: send one of them',
  });

export const updateRoleInput = userReference
  .and(z.object({ role }))
  .transform((value) => ({ id: value.id ?? value.userId ?? '', role: value.role }));
export type UpdateRoleInput = z.infer<typeof updateRoleInput>;

export const resetPasswordInput = z.object({
  userId: id,
  newPassword: password.optional(),
  sendEmail: z.boolean().optional(),
});
export type ResetPasswordInput = z.infer<typeof resetPasswordInput>;

export const listUsersInput = z
  .object({
    ...paging(10),
    search: searchText(200),
    role: role.optional(),
    department: text(100).optional(),
    isActive: z.boolean().optional(),
    sortBy: z.enum(['firstName', 'email', 'role', 'lastLogin', 'createdAt']).default('createdAt'),
    sortOrder: sortOrder.default('desc'),
  })
  .prefault({});
export type ListUsersInput = z.infer<typeof listUsersInput>;

export const getActivityInput = userReference
  .and(z.object(paging(50)))
  .transform((value) => ({ userId: value.userId ?? value.id ?? '', skip: value.skip, take: value.take }));

export const activity = z.object({
  action: z.string(),
  timestamp: z.date(),
  ipAddress: z.string().optional(),
  userAgent: z.string().optional(),
  details: z.record(z.string(), z.unknown()).optional(),
});
export type Activity = z.infer<typeof activity>;

export const activityLogInput = z
  .object({
    userId: id.optional(),
    action: searchText(100).describe(
      'One action such as `events.review`, or, with a dot at its end, all of a noun: `events.`.',
    ),
    about: searchText(300).describe(
      'A value in the details: the id of a sensor, event or incident, a plate, an e-mail address. Ignoring case.',
    ),
    purpose: searchText(40).describe(
      'Searches for plates with this purpose, a code of the setting `PURPOSES`.',
    ),
    caseNumber: searchText(100).describe('Searches for plates for this case, ignoring case.'),
    ...timeRange,
    ...paging(50),
  })
  .prefault({});
export type ActivityLogInput = z.infer<typeof activityLogInput>;

export const activityLogEntry = z.object({
  id: z.string(),
  by: person
    .nullable()
    .describe(
      'null: a failed login with an unknown e-mail address, or a command on the machine of the service.',
    ),
  action: z.string(),
  timestamp: z.date(),
  ipAddress: z.string().nullable(),
  userAgent: z.string().nullable(),
  details: z.record(z.string(), z.unknown()).nullable(),
});
export type ActivityLogEntry = z.infer<typeof activityLogEntry>;

export const activityLog = z.object({
  activities: z.array(activityLogEntry).describe('Newest first.'),
  ...pageTotals,
});
export type ActivityLog = z.infer<typeof activityLog>;

export const usersPage = z.object({ users: z.array(user), ...pageTotals });
export const deleteUserOutput = z.object({ success: z.literal(true), id: z.string() });
export const resetPasswordOutput = z.object({
  success: z.literal(true),
  password: z
    .string()
    .optional()
    .describe('The generated password, if none was given. It is shown only in this answer.'),
});
export const activityOutput = z.object({
  userId: z.string(),
  activities: z.array(activity),
  totalActivities: z.number().describe('Number of entries on all pages together.'),
});

function isAvatar(value: string): boolean {
  return (
    /^data:image\/(?:png|jpeg|webp|gif);base64,[A-Za-z0-9+/]+={0,2}$/.test(value) ||
    /^[A-Za-z0-9+/]{16,}={0,2}$/.test(value) ||
    (URL.canParse(value) && /^https?:$/.test(new URL(value).protocol))
  );
}
