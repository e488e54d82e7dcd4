import {
  addCaseItemInput,
  caseByIdInput,
  caseDetail,
  caseExportDetail,
  caseMessage,
  caseRules,
  caseStats,
  caseStatsInput,
  caseSummary,
  casesPage,
  checkCaseInput,
  closeCaseInput,
  decideCaseInput,
  disputeCaseInput,
  exportCaseInput,
  followCasesInput,
  getExportInput,
  listCasesInput,
  measureCaseInput,
  openCaseInput,
  rejectCaseInput,
  unlockCaseInput,
  updateCaseRulesInput,
} from '@gantry/contract/cases';
import { pageCount } from '@gantry/contract/page';
import { z } from 'zod';
import {
  checkCase,
  closeCase,
  decideCase,
  disputeCase,
  rejectCase,
  unlockCase,
  verifyCase,
} from '../cases/moves.ts';
import {
  addCaseItem,
  followCases,
  measureCase,
  openAndShow,
  updateCaseRules,
  viewCase,
  viewCaseRules,
  viewCaseStats,
  viewCases,
} from '../cases/service.ts';
import { getExport, requestExport } from '../reports/packages/service.ts';
import { messagesOf } from '../rpc/messages.ts';
import { allowed, router } from './procedures.ts';

const permitted = allowed('verifyCases');
const deciding = allowed('decideCases');

export const casesRouter = router({
  getAll: permitted
    .meta({
      question: true,
      summary: 'List cases',
      notes: '`startDate` and `endDate` are about when it happened.',
    })
    .input(listCasesInput)
    .output(casesPage)
    .query(async ({ ctx, input }) => {
      const { items, total, waiting } = await viewCases(ctx, input);
      return { cases: items, total, pageCount: pageCount(total, input.take), waiting };
    }),

  getById: permitted
    .meta({ summary: 'Get a case with its items, its checks and its log' })
    .input(caseByIdInput)
    .output(caseDetail)
    .query(({ ctx, input }) => viewCase(ctx, input.id)),

  getStats: permitted
    .meta({
      question: true,
      summary: 'Count cases by code, sensor, state or type of violation',
      notes: '`startDate` and `endDate` are about when it happened.',
    })
    .input(caseStatsInput)
    .output(caseStats)
    .query(({ ctx, input }) => viewCaseStats(ctx, input)),

  getRules: permitted
    .meta({ summary: 'Show the rules of cases' })
    .output(caseRules)
    .query(({ ctx }) => viewCaseRules(ctx)),

  updateRules: deciding
    .meta({
      summary: 'Change the rules of cases',
      notes: 'Only the given fields change. They concern cases that are opened from now on.',
    })
    .input(updateCaseRulesInput)
    .output(caseRules)
    .mutation(({ ctx, input }) => updateCaseRules(ctx, input)),

  onChanged: permitted
    .meta({ summary: 'Stream changes of cases', message: caseMessage })
    .input(followCasesInput)
    .subscription(({ ctx, input, signal }) => messagesOf('change', followCases(ctx, input, signal))),

  open: permitted
    .meta({
      summary: 'Open a case about an event, an incident or a hit',
      notes:
        'If there is a case about it, that one is returned. The events of the case are under a legal hold until it is closed. CONFLICT (409) names the incident into which one was merged, because its events moved there.',
    })
    .input(openCaseInput)
    .output(caseDetail)
    .mutation(({ ctx, input }) => openAndShow(ctx, input)),

  addItem: permitted
    .meta({ summary: 'Add an event, an image or a note to a case that is not verified' })
    .input(addCaseItemInput)
    .output(caseDetail)
    .mutation(({ ctx, input }) => addCaseItem(ctx, input)),

  measure: permitted
    .meta({
      summary: 'Compute the speed from two line crossings',
      notes:
        'km/h = metres / seconds × 3.6. The check SECONDARY compares it with the measured speed. Where the lines are crossed in the images (`firstMark`, `secondMark`) is kept, and is in the evidence package.',
    })
    .input(measureCaseInput)
    .output(caseDetail)
    .mutation(({ ctx, input }) => measureCase(ctx, input)),

  check: permitted
    .meta({
      summary: 'Check a case: NEW → CHECKED',
      notes:
        'All images are read and compared with their hashes. If a check fails, a `reason` is required (BAD_REQUEST); certificates that do not cover the time and damaged images cannot be overridden (CONFLICT).',
    })
    .input(checkCaseInput)
    .output(caseSummary)
    .mutation(({ ctx, input }) => checkCase(ctx, input)),

  verify: permitted
    .meta({
      summary: 'Verify a case: CHECKED → VERIFIED',
      notes:
        'By another person than the one who checked it (FORBIDDEN), unless the rules say that the type of violation needs one only. It is checked anew, as in `cases.check`. Afterwards, its items can no longer be changed.',
    })
    .input(checkCaseInput)
    .output(caseSummary)
    .mutation(({ ctx, input }) => verifyCase(ctx, input)),

  reject: permitted
    .meta({ summary: 'Reject a case: NEW or CHECKED → REJECTED' })
    .input(rejectCaseInput)
    .output(caseSummary)
    .mutation(({ ctx, input }) => rejectCase(ctx, input)),

  dispute: permitted
    .meta({
      summary: 'Disagree with who checked a case: CHECKED → DISPUTED',
      notes: 'By another person than the one who checked it (FORBIDDEN). A third person decides.',
    })
    .input(disputeCaseInput)
    .output(caseSummary)
    .mutation(({ ctx, input }) => disputeCase(ctx, input)),

  decide: deciding
    .meta({
      summary: 'Decide about a disputed case: DISPUTED → VERIFIED or REJECTED',
      notes: 'By somebody who neither checked nor disputed it (FORBIDDEN).',
    })
    .input(decideCaseInput)
    .output(caseSummary)
    .mutation(({ ctx, input }) => decideCase(ctx, input)),

  unlock: deciding
    .meta({ summary: 'Begin anew with a case: VERIFIED or EXPORTED → NEW' })
    .input(unlockCaseInput)
    .output(caseSummary)
    .mutation(({ ctx, input }) => unlockCase(ctx, input)),

  close: permitted
    .meta({
      summary: 'Close a case that is VERIFIED, EXPORTED or REJECTED',
      notes:
        'Its events are no longer under its legal hold. Retention removes it as many days later as the rules say. A closed case does not change any more, but it can be exported.',
    })
    .input(closeCaseInput)
    .output(caseSummary)
    .mutation(({ ctx, input }) => closeCase(ctx, input)),

  export: permitted
    .meta({
      summary: 'Make the evidence package of a case: VERIFIED → EXPORTED',
      notes:
        'A ZIP file that anybody can check without Gantry (docs/evidence.md). It is made shortly afterwards; `cases.getExport` says when. The case is EXPORTED once it is made, also if it is closed. It is not made if an event of the case does not exist any more, an image is damaged, or something was changed after it was sealed.',
    })
    .input(exportCaseInput)
    .output(z.object({ exportId: z.string() }))
    .mutation(({ ctx, input }) => requestExport(ctx, input)),

  getExport: permitted
    .meta({
      summary: 'Get an evidence package and its manifest',
      notes: 'Its file is kept for 30 days, the manifest for ever, also after the case was removed.',
    })
    .input(getExportInput)
    .output(caseExportDetail)
    .query(({ ctx, input }) => getExport(ctx, input.exportId)),
});
