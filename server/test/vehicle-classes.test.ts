import {
  type BasicClass,
  basicClassOf,
  classOfScheme,
  classSchemeNames,
  classSchemes,
  NON_MOTOR_WORDS,
} from '@gantry/contract/vehicle-classes';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

/** Words that devices of the known makers send, and those of other languages. */
const WORDS: Readonly<Record<BasicClass, readonly string[]>> = {
  CAR: [
    ...[
      'car',
      'CAR',
      'Car',
      'sedan',
      'Sedan',
      'SaloonCar',
      'Saloon car',
      'SUVMPV',
      'SUV',
      'mpv',
      'Van',
      'minivan',
    ],
    ...[
      'pickup',
      'Pickup Truck',
      'pickupTruck',
      'hatchback',
      'Small Vehicle',
      'smallCar',
      'taxi',
      'Microcar',
    ],
    ...[
      'suv-crossover',
      'sedan-compact',
      'sedan-wagon',
      'van-full',
      'passenger_car',
      'Pkw',
      'otomobil',
      '小型车',
    ],
  ],
  MOTORCYCLE: [
    ...['motorcycle', 'MOTORCYCLE', 'Motorbike', 'moped', 'scooter', 'twoWheelVehicle', 'All-Motorcycle'],
    ...['Kraftrad', 'moto', 'motosiklet', 'motorcyclist'],
  ],
  BUS: [
    'bus',
    'BUS',
    'Bus',
    'largeBus',
    'mediumBus',
    'MicroBus',
    'minibus',
    'coach',
    'otobüs',
    'autobus',
    '大客车',
  ],
  TRUCK: [
    ...[
      'truck',
      'TRUCK',
      'Truck',
      'Big Truck',
      'LargeTruck',
      'MidTruck',
      'HeavyTruck',
      'lightTruck',
      'lorry',
    ],
    ...[
      'crashCushionLorry',
      'tractor-trailer',
      'heavy',
      'HGV',
      'oilTankCar',
      'Lkw',
      'LKW',
      'camion',
      'kamyon',
    ],
  ],
  BICYCLE: [
    'bicycle',
    'Bicycle',
    'bike',
    'cyclist',
    'NonMotor',
    'All-Non-motor',
    'Fahrrad',
    'vélo',
    'bisiklet',
  ],
  PEDESTRIAN: ['pedestrian', 'person', 'human', 'people', 'Fußgänger', 'yaya', '行人'],
  OTHER: ['tram', 'train', 'yacht', 'horse'],
  UNCLASSIFIED: [
    ...[
      '',
      'vehicle',
      'Unknown',
      'Medium',
      'Light-duty',
      'NoMannedConvertibleTricycle',
      'threeWheelVehicle',
      '9',
    ],
    ...['Toyota', 'carpet', 'busy', 'x'.repeat(10_000)],
  ],
};

describe('the classes of words', () => {
  it.each(
    Object.entries(WORDS).flatMap(([code, words]) => words.map((word) => [word.slice(0, 40), word, code])),
  )('%s', (_, word, code) => expect(basicClassOf(word)).toBe(code));

  it('do not depend on case and separators', () => {
    const words = Object.values(WORDS)
      .flat()
      .filter((word) => word.length < 50 && !/[a-z][A-Z]|İ|ı/.test(word));
    fc.assert(
      fc.property(fc.constantFrom(...words), fc.constantFrom('_', '-', '  '), (word, separator) => {
        expect(basicClassOf(` ${word.toUpperCase().replaceAll(/[ _-]/g, separator)} `)).toBe(
          basicClassOf(word),
        );
      }),
    );
  });

  it('are classes of the scheme BASIC, whatever the word', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (word) => {
        expect(classOfScheme('BASIC', basicClassOf(word))).toBeDefined();
      }),
    );
  });
});

describe('the schemes', () => {
  it.each(classSchemeNames)('%s has each code once, and heavy classes are motor vehicles', (name) => {
    const classes = classSchemes[name];
    expect(new Set(classes.map(({ code }) => code)).size).toBe(classes.length);
    for (const { mode, isHeavy } of classes) expect(isHeavy && mode !== 'MOTOR').toBe(false);
  });

  it.each([
    ['BASIC', ['BUS', 'TRUCK']],
    ['FHWA13', ['4', '5', '6', '7', '8', '9', '10', '11', '12', '13']],
    ['TLS8+1', ['LKW', 'LKW_A', 'SATTEL_KFZ', 'BUS']],
    ['LIGHT_HEAVY', ['HEAVY']],
    ['LENGTH', ['MEDIUM', 'LONG']],
  ] as const)('the heavy classes of %s', (name, codes) => {
    expect(classSchemes[name].filter(({ isHeavy }) => isHeavy).map(({ code }) => code)).toEqual(codes);
  });

  it('a vehicle without a class is a motor vehicle, a bicycle is not', () => {
    const modes = ['UNCLASSIFIED', 'BICYCLE', 'PEDESTRIAN', 'OTHER'].map(
      (code) => classOfScheme('BASIC', code)?.mode,
    );
    expect(modes).toEqual(['MOTOR', 'BICYCLE', 'PEDESTRIAN', 'OTHER']);
    expect(classOfScheme('FHWA13', '14')).toBeUndefined();
  });
});

it('the words whose passages are not in the volume mean no motor vehicles', () => {
  const modes = NON_MOTOR_WORDS.map((word) => classOfScheme('BASIC', basicClassOf(word))?.mode);
  expect(modes).toEqual(['PEDESTRIAN', 'PEDESTRIAN', 'BICYCLE', 'BICYCLE']);
});
