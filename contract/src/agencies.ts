import { z } from 'zod';
import { id } from './id.ts';
import { agencyKinds } from './incident-states.ts';
import { editableText, optionalText, searchText, trimmedText } from './text.ts';
import { email } from './users.ts';

// Agencies that are called to incidents.

/** Maximum number of agencies. */
export const MAX_AGENCIES = 500;
const MAX_AREAS = 50;

export const agencyKind = z.enum(agencyKinds);

export const agency = z.object({
  id: z.string(),
  name: z.string(),
  kind: agencyKind,
  phone: z.string().nullable(),
  email: z.string().nullable().describe('Where notices of response plans are sent.'),
  areas: z
    .array(z.string())
    .describe('The roads or districts for which it is responsible, in its own words.'),
  createdAt: z.date(),
  updatedAt: z.date(),
});
export type Agency = z.infer<typeof agency>;

const name = trimmedText(100, 1);
const AREAS = `Name at most ${MAX_AREAS} areas`;
const areas = z.array(trimmedText(100, 1)).max(MAX_AREAS, AREAS);

export const createAgencyInput = z.object({
  name: name.describe('Different from those of the other agencies, ignoring case.'),
  kind: agencyKind,
  phone: optionalText(50),
  email: email.nullish().transform((value) => value ?? null),
  areas: areas.default([]),
});
export type CreateAgencyInput = z.infer<typeof createAgencyInput>;

export const updateAgencyInput = z.object({
  id,
  name: name.optional(),
  kind: agencyKind.optional(),
  phone: editableText(50),
  email: email.nullable().optional(),
  areas: areas.optional(),
});
export type UpdateAgencyInput = z.infer<typeof updateAgencyInput>;

export const listAgenciesInput = z
  .object({
    kind: agencyKind.optional(),
    search: searchText(100).describe('Part of a name or an area, ignoring case.'),
  })
  .prefault({});
export type ListAgenciesInput = z.infer<typeof listAgenciesInput>;

export const agencyList = z.object({ agencies: z.array(agency).describe('By name.') });
export const deletedAgency = z.object({ success: z.literal(true), id: z.string() });
