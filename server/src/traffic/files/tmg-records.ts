// The records of the Traffic Monitoring Guide of the FHWA, with | between fields. Sources: TMG 2022, chapter 4 and appendix B
// (www.fhwa.dot.gov/policyinformation/tmguide/tmg_2022: pipe-delimited records, station ids of 6 to 20 characters), the fields of
// TMG 2013, chapter 7 (codes of directions, restrictions, classes and speed bins), and the headers of the station and volume files
// that the FHWA publishes. The order of the fields of class and speed records was not compared with chapter 4: readers of
// files should use the header that precedes the records.

export type TmgKind = 'STATION' | 'VOLUME' | 'CLASS' | 'SPEED';

/** Of the 13 categories of the FHWA, or of the two groups 1 to 3 and 4 to 13. */
export type ClassGrouping = 13 | 2;

const numbered = (name: string, from: number, to: number, digits = 1): string[] =>
  Array.from({ length: to - from + 1 }, (_, n) => `${name}_${`${from + n}`.padStart(digits, '0')}`);

const HOURS = numbered('Hour', 0, 23, 2);
const DAY = ['Travel_Dir', 'Travel_Lane', 'Year_Record', 'Month_Record', 'Day_Record'];
const INTERVAL = ['Record_Type', 'State_Code', 'Station_Id', ...DAY, 'Hour_Record', 'Time_Interval'];

/** The number of speed bins in a record. */
export const SPEED_BINS = 15;

/** The letters that begin the records of a kind; the first one is written. */
export const recordTypes: Readonly<Record<TmgKind, readonly string[]>> = {
  STATION: ['S'],
  VOLUME: ['V', '3'],
  CLASS: ['C'],
  SPEED: ['T'],
};

/** The fields of a record, in their order. */
export function fieldsOf(kind: TmgKind, classes: number): readonly string[] {
  switch (kind) {
    case 'STATION':
      return [
        ...[
          'Record_Type',
          'State_Code',
          'Station_Id',
          'Travel_Dir',
          'Travel_Lane',
          'Year_Record',
          'F_System',
        ],
        ...[
          'Number_Lanes_In_Direction',
          'Vehicle_Classification_Groupings',
          'Calibration_of_Weighing_System',
        ],
        ...['Type_Sensor_1', 'Type_Sensor_2', 'Latitude', 'Longitude', 'Prev_Station_Id', 'Year_Established'],
        ...['Year_Discontinued', 'County_Code', 'NHS', 'Posted_Route_Signing', 'Posted_Route_Sign_Number'],
        'Station_Location',
      ];
    case 'VOLUME':
      return [
        ...['Record_Type', 'State_Code', 'F_System', 'Station_Id', ...DAY],
        ...['Day_of_Week', 'Restrictions', 'Time_Increment', ...HOURS],
      ];
    case 'CLASS':
      return [...INTERVAL, 'Total_Interval_Volume', ...numbered('Class', 1, classes)];
    case 'SPEED':
      return [
        ...[...INTERVAL, 'First_Speed_Bin', 'Number_of_Speed_Bins', 'Total_Interval_Volume'],
        ...numbered('Bin', 1, SPEED_BINS),
      ];
  }
}

/** The codes of directions of travel. NS and EW are both directions of a road. */
export const directionCodes: Readonly<Record<string, string>> = {
  NB: '1',
  NE: '2',
  EB: '3',
  SE: '4',
  SB: '5',
  SW: '6',
  WB: '7',
  NW: '8',
  NS: '9',
  EW: '0',
};

/** The upper ends of the speed bins in mph, inclusive; the last bin has none. */
export const SPEED_BIN_ENDS: readonly number[] = Array.from({ length: SPEED_BINS - 1 }, (_, n) => 20 + 5 * n);
/** The width of a speed bin in mph, also of those that are open at one end. */
export const SPEED_BIN_WIDTH = 5;
