import { studyKinds, studyStatuses, trafficIntervals } from '@gantry/contract/values';
import { day, flag, oneOf, type Parameter, someOf, text, whole } from '../../shared/url/search.ts';

/** The comparisons: with earlier days, with days of the user's choice, or with the same days at another place. */
export const comparisons = ['before', 'weekBefore', 'yearBefore', 'days', 'place'] as const;

/** The query parameters that every part of the traffic page has: the place and the days. */
const subjectSearch = {
  locationId: text(),
  pointId: text(),
  sensorId: text(),
  startDate: day,
  endDate: day,
};

/** The query parameters of the overview. Those sent to the service are named as in its `traffic` procedures. */
export const trafficSearch = {
  ...subjectSearch,
  interval: oneOf(trafficIntervals),
  vehicleType: text(100),
  compare: oneOf(comparisons),
  compareStart: day,
  compareEnd: day,
  withLocationId: text(),
  withPointId: text(),
  withSensorId: text(),
  /** The figure by which the top locations are sorted. */
  by: oneOf(['volume', 'meanSpeed', 'shareOverLimit']),
  /** The figure in the chart of the hours of the week. */
  week: oneOf(['volume', 'speed']),
};

const SPAN = /^((?:[01]\d|2[0-3]):(?:00|15|30|45))-((?:[01]\d|2[0-3]):(?:00|15|30|45)|24:00)$/;

/** A part of the local day between two full quarter hours, as `06:30-10:30`. */
const span: Parameter<string> = (raw) => {
  const [, from = '', until = ''] = (typeof raw === 'string' && SPAN.exec(raw)) || [];
  return from < until ? `${from}-${until}` : undefined;
};

/** How the columns of a count are divided. */
export const divisions = ['total', 'direction', 'lane', 'class', 'movement'] as const;

/** The query parameters of the counts. */
export const countsSearch = {
  ...subjectSearch,
  /** The day whose intervals are shown. */
  day,
  interval: oneOf(['15min', '60min', 'day']),
  columns: oneOf(divisions),
  /** The windows of the peak hours. */
  am: span,
  pm: span,
};

/** The days of the week, each at the number that the service gives it. */
export const weekdayNames = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'] as const;

/** The classes of vehicles of which a speed study can be made. */
export const speedClasses = ['CAR', 'MOTORCYCLE', 'BUS', 'TRUCK', 'UNCLASSIFIED', 'BICYCLE'] as const;

/** The query parameters of the speed study and of the comparison of two. */
export const speedSearch = {
  ...subjectSearch,
  view: oneOf(['compare']),
  units: oneOf(['KMH', 'MPH']),
  method: oneOf(['NEAREST_RANK', 'LINEAR', 'CLASSED']),
  /** The classes of the method CLASSED, as `31-35, 36-40`. */
  classes: text(2_000),
  weekdays: someOf(weekdayNames),
  hours: span,
  vehicleClass: oneOf(speedClasses),
  /** The study before. Its place is by default that of the study after. */
  beforeStart: day,
  beforeEnd: day,
  beforeLocationId: text(),
  beforePointId: text(),
  beforeSensorId: text(),
};

/** The query parameters of headways and density. */
export const headwaysSearch = {
  ...subjectSearch,
  interval: oneOf(['5min', '15min', '60min']),
  units: oneOf(['KMH', 'MPH']),
  weekdays: someOf(weekdayNames),
  hours: span,
};

/** The query parameters of the daily and annual averages. */
export const annualSearch = {
  ...subjectSearch,
  year: whole(1970, 8_999),
  method: oneOf(['FHWA', 'AASHTO', 'SIMPLE']),
  /** How many months may lack data. */
  allowMissing: whole(0, 1),
};

/** The parts of a turning movement count that can be shown: peak hours of a day, the day, and the whole period. */
export const countParts = ['AM', 'MIDDAY', 'PM', 'DAY', 'total', 'period'] as const;

/** The query parameters of the intersection. */
export const intersectionSearch = {
  ...subjectSearch,
  /** The day whose intervals and peak hours are shown. */
  day,
  interval: oneOf(['15min', '60min']),
  part: oneOf(countParts),
  /** The side of the road on which traffic drives in the drawing; by default the right one. */
  side: oneOf(['left']),
  /** The windows of the peak hours. */
  am: span,
  pm: span,
};

/** The query parameters of the quality of data. */
export const qualitySearch = {
  ...subjectSearch,
  /** The day whose flags are shown. */
  day,
  severity: oneOf(['REJECT', 'SUSPECT', 'INFO']),
};

/** The query parameters of the list of studies. The place and the days belong to the other parts, and come back there. */
export const studiesSearch = {
  ...subjectSearch,
  kind: oneOf(studyKinds),
  status: oneOf(studyStatuses),
  /** Whether the form for a new study is open. */
  create: flag,
  /** The study at the cursor of the list. */
  study: text(),
};

/** The query parameters of a study: which part of its figures is shown. */
export const studySearch = { day, part: oneOf(countParts), side: oneOf(['left']) };
