import { byId } from '@gantry/contract/id';
import {
  contact,
  contactList,
  createContactInput,
  deletedContact,
  updateContactInput,
  verifyContactInput,
} from '@gantry/contract/notices';
import {
  createContact,
  deleteContact,
  sendCode,
  updateContact,
  verifyContact,
  viewContacts,
} from '../notices/contacts.ts';
import { person, router } from './procedures.ts';

export const contactsRouter = router({
  getAll: person
    .meta({ summary: 'List your own contacts, at which you are told about alarms' })
    .output(contactList)
    .query(async ({ ctx }) => ({ contacts: await viewContacts(ctx) })),

  create: person
    .meta({
      summary: 'Add a contact of your own',
      notes:
        'A code of six digits is sent to it. Nothing else is, until `verify` is called with the code within 15 minutes. If the code cannot be sent, the contact is there nevertheless: see `sendCode`.',
    })
    .input(createContactInput)
    .output(contact)
    .mutation(({ ctx, input }) => createContact(ctx, input)),

  update: person
    .meta({
      summary: 'Change the language or the quiet hours of a contact',
      notes: '`quiet: null` removes them.',
    })
    .input(updateContactInput)
    .output(contact)
    .mutation(({ ctx, input }) => updateContact(ctx, input)),

  delete: person
    .meta({ summary: 'Delete a contact' })
    .input(byId)
    .output(deletedContact)
    .mutation(async ({ ctx, input }) => ({ success: true as const, id: await deleteContact(ctx, input.id) })),

  sendCode: person
    .meta({
      summary: 'Send a new code to a contact that is not confirmed',
      notes: 'The last code ends. At most 5 codes are sent in an hour to an address, and for a user.',
    })
    .input(byId)
    .output(deletedContact)
    .mutation(async ({ ctx, input }) => {
      await sendCode(ctx, input.id);
      return { success: true as const, id: input.id };
    }),

  verify: person
    .meta({
      summary: 'Confirm a contact by the code that was sent to it',
      notes: 'After 5 wrong codes, request a new one.',
    })
    .input(verifyContactInput)
    .output(contact)
    .mutation(({ ctx, input }) => verifyContact(ctx, input)),
});
