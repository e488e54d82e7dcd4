// Does not import zod, so that pages whose script must stay small can use it.

/** What moves: `volume` counts MOTOR; bicycles and pedestrians are series of their own. */
export type Mode = 'MOTOR' | 'BICYCLE' | 'PEDESTRIAN' | 'OTHER';

/** A class of a scheme. */
export interface ClassOfScheme {
  readonly code: string;
  /** The name that users read. */
  readonly name: string;
  readonly mode: Mode;
  /** Whether it counts in the share of heavy vehicles. */
  readonly isHeavy: boolean;
  /** Passenger car equivalents on level terrain; a study may use others. */
  readonly pce: number;
}

type Row = readonly [code: string, name: string, kind?: 'HEAVY' | Exclude<Mode, 'MOTOR'>, pce?: number];

/** The classes of a scheme in the order in which they are listed. */
function scheme(...rows: readonly Row[]): readonly ClassOfScheme[] {
  return rows.map(([code, name, kind, pce]) => ({
    code,
    name,
    mode: kind === undefined || kind === 'HEAVY' ? 'MOTOR' : kind,
    isHeavy: kind === 'HEAVY',
    pce: pce ?? (kind === 'HEAVY' ? HEAVY_PCE : kind === undefined ? 1 : 0),
  }));
}

/** Heavy vehicles on level terrain (Highway Capacity Manual, 6th edition). */
const HEAVY_PCE = 2;
const MOTORCYCLE_PCE = 0.5;
const BICYCLE_PCE = 0.2;

/**
 * The schemes of vehicle classes. FHWA13 are the 13 categories of the Traffic Monitoring Guide, of which 4 to 13 are heavy;
 * TLS8+1 those of the German Technical Terms of Delivery for Route Stations; LENGTH are bins whose bounds depend on the
 * jurisdiction. A vehicle of an unknown class is a motor vehicle, and is counted as UNCLASSIFIED.
 */
export const classSchemes = {
  BASIC: scheme(
    ['CAR', 'Car'],
    ['MOTORCYCLE', 'Motorcycle', undefined, MOTORCYCLE_PCE],
    ['BUS', 'Bus', 'HEAVY'],
    ['TRUCK', 'Truck', 'HEAVY'],
    ['BICYCLE', 'Bicycle', 'BICYCLE', BICYCLE_PCE],
    ['PEDESTRIAN', 'Pedestrian', 'PEDESTRIAN'],
    ['OTHER', 'Other', 'OTHER'],
    ['UNCLASSIFIED', 'Unclassified'],
  ),
  FHWA13: scheme(
    ['1', 'Motorcycles', undefined, MOTORCYCLE_PCE],
    ['2', 'Passenger cars'],
    ['3', 'Other two-axle, four-tire vehicles'],
    ['4', 'Buses', 'HEAVY'],
    ['5', 'Two-axle, six-tire single-unit trucks', 'HEAVY'],
    ['6', 'Three-axle single-unit trucks', 'HEAVY'],
    ['7', 'Single-unit trucks with four or more axles', 'HEAVY'],
    ['8', 'Single-trailer trucks with four or fewer axles', 'HEAVY'],
    ['9', 'Five-axle single-trailer trucks', 'HEAVY'],
    ['10', 'Single-trailer trucks with six or more axles', 'HEAVY'],
    ['11', 'Multi-trailer trucks with five or fewer axles', 'HEAVY'],
    ['12', 'Six-axle multi-trailer trucks', 'HEAVY'],
    ['13', 'Multi-trailer trucks with seven or more axles', 'HEAVY'],
    ['UNCLASSIFIED', 'Unclassified'],
  ),
  'TLS8+1': scheme(
    ['KRAD', 'Motorcycle', undefined, MOTORCYCLE_PCE],
    ['PKW', 'Car'],
    ['LFW', 'Delivery van'],
    ['PKW_A', 'Car with trailer'],
    ['LKW', 'Truck', 'HEAVY'],
    ['LKW_A', 'Truck with trailer', 'HEAVY'],
    ['SATTEL_KFZ', 'Articulated truck', 'HEAVY'],
    ['BUS', 'Bus', 'HEAVY'],
    ['NK', 'Unclassified'],
  ),
  LIGHT_HEAVY: scheme(
    ['LIGHT', 'Light vehicle'],
    ['HEAVY', 'Heavy vehicle', 'HEAVY'],
    ['UNCLASSIFIED', 'Unclassified'],
  ),
  LENGTH: scheme(
    ['MOTORCYCLE', 'Motorcycle', undefined, MOTORCYCLE_PCE],
    ['SHORT', 'Short vehicle'],
    ['MEDIUM', 'Medium vehicle', 'HEAVY'],
    ['LONG', 'Long vehicle', 'HEAVY'],
    ['UNCLASSIFIED', 'Unclassified'],
  ),
} as const satisfies Record<string, readonly ClassOfScheme[]>;

export type ClassScheme = keyof typeof classSchemes;
export const classSchemeNames = Object.keys(classSchemes) as [ClassScheme, ...ClassScheme[]];

/** The class with the code in the scheme; undefined if the scheme has none. */
export function classOfScheme(name: ClassScheme, code: string): ClassOfScheme | undefined {
  return classSchemes[name].find((each) => each.code === code);
}

/** The codes of the scheme BASIC. */
export type BasicClass =
  | 'CAR'
  | 'MOTORCYCLE'
  | 'BUS'
  | 'TRUCK'
  | 'BICYCLE'
  | 'PEDESTRIAN'
  | 'OTHER'
  | 'UNCLASSIFIED';

/**
 * Words of devices by their class, in lower case, without blanks between the parts of a word. The first class of which a
 * word fits counts: a pickup truck is a car, a minibus a bus, and a non-motor vehicle a bicycle. What the words of a maker
 * leave open stays unclassified: "vehicle", "medium", "three-wheeler".
 */
const WORDS: readonly (readonly [BasicClass, RegExp])[] = [
  [
    'PEDESTRIAN',
    /^(?:pedestrians?|persons?|people|humans?|walkers?|child(?:ren)?|fu(?:ss|ß)g[aä]e?nger|piétons?|pietons?|peat[oó]n(?:es)?|peões|pedoni?|yaya|行人|人)$/,
  ],
  [
    'BICYCLE',
    /^(?:bi?cycles?|cyclists?|bikes?|pedal ?cycles?|e ?bikes?|(?:all )?non ?motor(?:ized|ised)?(?: ?vehicles?)?|fahrr(?:ad|äder)|radfahrer|rad|v[eé]los?|bicicletas?|biciclett[ae]|fiets(?:er|en)?|bisiklet(?:li)?|自行车|非机动车)$/,
  ],
  [
    'MOTORCYCLE',
    /^(?:motor ?(?:cycles?|bikes?|cyclists?)|mopeds?|scooters?|two ?wheel(?:er)?s?(?: ?vehicles?)?|all ?motorcycle|krad|kraftrad|motorrad|mofa|motos?|motocicletas?|motocicl[io]|motocycl(?:ette|e)s?|motosiklet|摩托车|二轮车)$/,
  ],
  [
    'CAR',
    /^(?:(?:all|small|micro|mini|saloon|sedan|passenger|private|sports?|family|police|hatchback|suv)? ?(?:car|auto|automobile)s?|(?:saloon|sedan|suv|van)? ?(?:crossover|convertible|hatchback|wagon|compact)|(?:sedan|suv|van|saloon)(?: ?(?:compact|standard|sports|convertible|wagon|crossover|full|mini|mpv))?|suv ?mpv|mpv|estate|coup[eé]|cabriolet|limousine|jeep|(?:mini|micro|passenger|delivery|cargo|light)? ?vans?|van ?car|mini ?vans?|pick ?up(?: ?trucks?)?|small ?vehicle|taxi|cabs?|ambulance|pkw|personenwagen|lieferwagen|voitures?|automóvil|automovil|coches?|autom[oó]vel|carros?|otomobil|automobil|camionnettes?|furgon(?:eta|e|cino)?|小型车|小汽车|轿车|面包车)$/,
  ],
  [
    'BUS',
    /^(?:(?:mini|midi|micro|large|medium|big|small|middle|school|city|articulated|double ?decker|trolley)? ?(?:buses|bus)|coach(?:es)?|omnibus(?:se)?|reisebus|linienbus|auto(?:bus|car)(?:es|s)?|otobüs|otobus|[oô]nibus|pullman|大客车|中客车|公交车|客车)$/,
  ],
  [
    'TRUCK',
    /^(?:(?:all|big|large|medium|mid|middle|heavy|light|small|mini|tow|dump|garbage|box|semi|articulated|single ?unit|multi ?trailer|fire|tank|standard|concrete)? ?(?:trucks?|lorr(?:y|ies))|truck ?(?:standard|trailer)|crash ?cushion ?lorry|(?:tractor|semi|platform|full)? ?trailer(?: ?trucks?)?|semi|(?:light|large|medium|heavy) ?goods ?(?:vehicles?)?|hgv|lgv|ogv|heavy(?: ?(?:vehicles?|duty))?|(?:oil )?tanker|oil ?tank ?(?:car|truck)|fire ?engine|slag ?(?:car|truck)|(?:concrete )?mixer|lkw|lastwagen|lastkraftwagen|sattelzug|camions?|poids lourds?|camiones|camión|caminh(?:ão|ões|ao)|autocarr[oi]|vrachtwagens?|kamyon|tır|货车|大货车|重型车|卡车)$/,
  ],
  ['OTHER', /^(?:trams?|streetcars?|trains?|animals?|dogs?|horses?|carts?|boats?|yachts?|ships?)$/],
];

/**
 * Words of devices, in lower case, whose passages are not in the volume if the sensor reports no class. These are few, because
 * statements of the database compare every vehicle with them; who sends another word sends a class, too.
 */
export const NON_MOTOR_WORDS: readonly string[] = ['pedestrian', 'person', 'cyclist', 'bicycle'];

/** Words that are longer are not names of classes, in characters. */
const WORD_MAX = 60;

/**
 * The class of the scheme BASIC that a device means by a word for a vehicle, in any case and with any separators: `sedan`,
 * `SaloonCar`, `Pickup Truck` and `car` are cars. A word that is not known is UNCLASSIFIED, and so is an empty one.
 */
export function basicClassOf(word: string): BasicClass {
  if (word.length > WORD_MAX) return 'UNCLASSIFIED';
  const plain = word
    .trim()
    .replaceAll(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .replaceAll(/[\s_./-]+/g, ' ')
    .toLowerCase();
  return WORDS.find(([, pattern]) => pattern.test(plain))?.[0] ?? 'UNCLASSIFIED';
}
