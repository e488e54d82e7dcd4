import { z } from 'zod';
import { id } from './id.ts';
import { person } from './person.ts';
import { showsPlate } from './plate-fields.ts';
import { text, trimmedText } from './text.ts';

// Saved views: pages of the console with their filters, stored under a name.

/** Maximum number of views of one user. */
export const MAX_SAVED_VIEWS = 100;

/** Maximum number of views in one answer. */
export const MAX_LISTED_VIEWS = 500;

const page = trimmedText(50, 1).describe('The page of the console, for example `events`.');
const name = trimmedText(100, 1);
const search = text(4000).describe('The query string of the page. The service stores it as it is.');
const shared = z.boolean().describe('Whether everybody sees the view.');

export const savedView = z.object({
  id: z.string(),
  page: z.string(),
  name: z.string(),
  search: showsPlate('pageFilters', z.string()),
  shared: z.boolean(),
  createdBy: person,
  createdAt: z.date(),
  updatedAt: z.date(),
});
export type SavedView = z.infer<typeof savedView>;

export const listViewsInput = z.object({ page });

export const savedViews = z.object({
  views: z
    .array(savedView)
    .describe(
      `Your own views and the shared ones of the page, at most ${MAX_LISTED_VIEWS}: the default, your own, then the others, by name.`,
    ),
  defaultId: z.string().nullable().describe('The shared view with which everybody starts the page.'),
});
export type SavedViews = z.infer<typeof savedViews>;

export const createViewInput = z.object({ page, name, search, shared: shared.default(false) });
export type CreateViewInput = z.infer<typeof createViewInput>;

export const updateViewInput = z.object({
  id,
  name: name.optional(),
  search: search.optional(),
  shared: shared.optional(),
});
export type UpdateViewInput = z.infer<typeof updateViewInput>;

export const deletedView = z.object({ success: z.literal(true), id: z.string() });

export const setDefaultViewInput = z.object({
  page,
  id: id.nullable().describe('A shared view of the page; null: none.'),
});
export type SetDefaultViewInput = z.infer<typeof setDefaultViewInput>;

export const defaultView = z.object({ defaultId: z.string().nullable() });
