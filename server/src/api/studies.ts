import { byId } from '@gantry/contract/id';
import { report } from '@gantry/contract/reports';
import {
  createStudyInput,
  deletedStudy,
  exportStudyInput,
  listStudiesInput,
  rejectStudyInput,
  studiesPage,
  study,
  studyWithFigures,
  verifiedStudy,
} from '@gantry/contract/studies';
import { exportStudy } from '../reports/service.ts';
import {
  createStudy,
  deleteStudy,
  freezeStudy,
  getStudy,
  rejectStudy,
  signStudy,
  studyOf,
  verifyStudy,
} from '../traffic/study/service.ts';
import { listStudies } from '../traffic/study/store.ts';
import { allowed, allowedPerson, pageOf, router } from './procedures.ts';

export const studiesRouter = router({
  list: allowed('viewReports')
    .meta({ question: true, summary: 'List studies, newest first' })
    .input(listStudiesInput)
    .output(studiesPage)
    .query(async ({ ctx: { app }, input }) => {
      const { items, total } = await listStudies(app.db, input);
      return pageOf('studies', { items: items.map(studyOf), total }, input.take);
    }),

  get: allowed('viewReports')
    .meta({
      question: true,
      summary: 'Get a study with its figures',
      notes:
        'The figures of a DRAFT are those of the present data. Once it is frozen, they and all names stay as they are, also if the sensor, the location or a person is deleted.',
    })
    .input(byId)
    .output(studyWithFigures)
    .query(({ ctx, input }) => getStudy(ctx, input.id)),

  create: allowed('generateReports')
    .meta({
      summary: 'Create a study as a draft',
      notes:
        'The time zone is that of the service when it is created. Counts are read from quarter hours, and by the hour for longer intervals, at most 10,000.',
    })
    .input(createStudyInput)
    .output(study)
    .mutation(({ ctx, input }) => createStudy(ctx, input)),

  freeze: allowed('generateReports')
    .meta({
      question: true,
      summary: 'Freeze the data and figures of a draft',
      notes:
        'Later changes of the data do not change a frozen study. CONFLICT if it is no DRAFT. That of another author requires the permission Manage Reports of Others.',
    })
    .input(byId)
    .output(study)
    .mutation(({ ctx, input }) => freezeStudy(ctx, input.id)),

  sign: allowedPerson('generateReports')
    .meta({
      summary: 'Sign a frozen study as its reviewer',
      notes: 'FORBIDDEN for its author and for who froze it. CONFLICT unless it is FROZEN.',
    })
    .input(byId)
    .output(study)
    .mutation(({ ctx, input }) => signStudy(ctx, input.id)),

  reject: allowedPerson('generateReports')
    .meta({
      summary: 'Reject a frozen study',
      notes: 'Its author may do so as well, to withdraw it. CONFLICT unless it is FROZEN.',
    })
    .input(rejectStudyInput)
    .output(study)
    .mutation(({ ctx, input }) => rejectStudy(ctx, input.id, input.reason)),

  verify: allowed('viewReports')
    .meta({
      question: true,
      summary: 'Compare the frozen data of a study with those that are there now',
      notes: 'CONFLICT for a DRAFT.',
    })
    .input(byId)
    .output(verifiedStudy)
    .query(({ ctx, input }) => verifyStudy(ctx, input.id)),

  export: allowed('viewReports')
    .meta({
      summary: 'Request the file of a study',
      notes:
        'Like that of a report: ask reports.getById until it is DONE, then download it from `url`. The file has the status and the figures of the study when it is made. The table of a CSV file is what the hash is of; XLSX has a sheet with the methods.',
    })
    .input(exportStudyInput)
    .output(report)
    .mutation(({ ctx, input }) => exportStudy(ctx, input)),

  delete: allowed('generateReports')
    .meta({
      summary: 'Delete a draft, or a study that was rejected',
      notes:
        'CONFLICT if it is FROZEN or SIGNED. That of another author requires the permission Manage Reports of Others.',
    })
    .input(byId)
    .output(deletedStudy)
    .mutation(({ ctx, input }) => deleteStudy(ctx, input.id)),
});
