import { byId } from '@gantry/contract/id';
import {
  assignment,
  assignmentsPage,
  createAssignmentInput,
  createPointInput,
  deletedPoint,
  listAssignmentsInput,
  listPointsInput,
  measuringPoint,
  pointsPage,
  updateAssignmentInput,
  updatePointInput,
} from '@gantry/contract/points';
import {
  createAssignment,
  deleteAssignment,
  updateAssignment,
  viewAssignments,
} from '../traffic/assignments.ts';
import { createPoint, deletePoint, updatePoint, viewPoints } from '../traffic/points.ts';
import { allowed, pageOf, router, signedIn } from './procedures.ts';

export const pointsRouter = router({
  list: signedIn
    .meta({
      question: true,
      summary: 'List measuring points',
      notes:
        'With `locationId`, a location for which none is entered has one: BOTH directions, MAINLINE, with the id of the location.',
    })
    .input(listPointsInput)
    .output(pointsPage)
    .query(async ({ ctx, input }) => pageOf('points', await viewPoints(ctx.app, input), input.take)),

  create: allowed('manageSensors')
    .meta({
      summary: 'Add a measuring point to a location',
      notes:
        'A location counts as before until a sensor is assigned to one of its points. At most 100 points.',
    })
    .input(createPointInput)
    .output(measuringPoint)
    .mutation(({ ctx, input }) => createPoint(ctx, input)),

  update: allowed('manageSensors')
    .meta({
      summary: 'Change or end a measuring point',
      notes: 'Only the given fields change; `null` clears one. `validUntil` ends it.',
    })
    .input(updatePointInput)
    .output(measuringPoint)
    .mutation(({ ctx, input }) => updatePoint(ctx, input)),

  delete: allowed('manageSensors')
    .meta({
      summary: 'Delete a measuring point with its assignments',
      notes: 'As if it had never been entered. To keep its figures, end it with `points.update`.',
    })
    .input(byId)
    .output(deletedPoint)
    .mutation(({ ctx, input }) => deletePoint(ctx, input.id)),
});

export const assignmentsRouter = router({
  list: signedIn
    .meta({ question: true, summary: 'List which sensors count for which measuring points' })
    .input(listAssignmentsInput)
    .output(assignmentsPage)
    .query(async ({ ctx, input }) =>
      pageOf('assignments', await viewAssignments(ctx.app, input), input.take),
    ),

  create: allowed('manageSensors')
    .meta({
      summary: 'Assign a sensor, or a channel of it, to a measuring point',
      notes:
        'While a sensor counts for a point of a location, only assigned sensors count there. For one point, lane and movement one COUNT and one SPEED hold at a time, and a channel of a sensor counts for one point. The sensor may stand anywhere. A time applies from the start of its five-minute slot.',
    })
    .input(createAssignmentInput)
    .output(assignment)
    .mutation(({ ctx, input }) => createAssignment(ctx, input)),

  update: allowed('manageSensors')
    .meta({
      summary: 'Change or end an assignment',
      notes:
        'Only the given fields change; `null` clears one. `validUntil` ends it. Figures of the past change as well, as far as it holds for them.',
    })
    .input(updateAssignmentInput)
    .output(assignment)
    .mutation(({ ctx, input }) => updateAssignment(ctx, input)),

  delete: allowed('manageSensors')
    .meta({
      summary: 'Delete an assignment',
      notes: 'As if it had never been entered. To keep what was counted, end it with `assignments.update`.',
    })
    .input(byId)
    .output(deletedPoint)
    .mutation(({ ctx, input }) => deleteAssignment(ctx, input.id)),
});
