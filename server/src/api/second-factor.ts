import {
  changeSecondFactorInput,
  confirmedSecondFactor,
  confirmSecondFactorInput,
  disabledSecondFactor,
  disableSecondFactorInput,
  recoveryCodes,
  secondFactorState,
  startedSecondFactor,
  startSecondFactorInput,
} from '@gantry/contract/second-factor';
import {
  confirmFirstCode,
  disableSecondFactor,
  renewRecoveryCodes,
  startSecondFactor,
  viewSecondFactor,
} from '../accounts/second-factor.ts';
import { person, router } from './procedures.ts';

const LIMITS =
  'A wrong password or code is BAD_REQUEST and counts as a failed login; after ten wrong codes within fifteen minutes, all are refused (TOO_MANY_REQUESTS).';

export const secondFactorRouter = router({
  getState: person
    .meta({ summary: 'Get whether you have a second factor' })
    .output(secondFactorState)
    .query(({ ctx }) => viewSecondFactor(ctx)),

  start: person
    .meta({
      summary: 'Generate a secret for an authenticator app',
      notes: `It is not in force until \`secondFactor.confirm\`. CONFLICT if you have a second factor. ${LIMITS}`,
      weight: 10,
    })
    .input(startSecondFactorInput)
    .output(startedSecondFactor)
    .mutation(({ ctx, input }) => startSecondFactor(ctx, input)),

  confirm: person
    .meta({
      summary: 'Activate the second factor with a code from the app',
      notes: `From then on, \`auth.login\` requires \`code\`. Your other sessions end. ${LIMITS}`,
    })
    .input(confirmSecondFactorInput)
    .output(confirmedSecondFactor)
    .mutation(({ ctx, input }) => confirmFirstCode(ctx, input)),

  renewRecoveryCodes: person
    .meta({
      summary: 'Replace your recovery codes',
      notes: `Earlier codes become invalid. ${LIMITS}`,
      weight: 10,
    })
    .input(changeSecondFactorInput)
    .output(recoveryCodes)
    .mutation(({ ctx, input }) => renewRecoveryCodes(ctx, input)),

  disable: person
    .meta({ summary: 'Remove your second factor', notes: LIMITS, weight: 10 })
    .input(disableSecondFactorInput)
    .output(disabledSecondFactor)
    .mutation(({ ctx, input }) => disableSecondFactor(ctx, input)),
});
