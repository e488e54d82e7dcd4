import { useTranslation } from 'react-i18next';
import { classes } from '../../../../ui/classes.ts';
import { Icon, type IconName } from '../../../../ui/icon.tsx';
import { fromLeg, legsOf, ofLeg, type TurningTotals } from './figures.ts';
import {
  angleOf,
  entryAcross,
  type Layout,
  LENGTH,
  type Leg,
  layoutOf,
  type Point,
  pathOf,
  pointAt,
  type Side,
  type Turn,
  travelFrom,
  travelTo,
} from './geometry.ts';

interface DiagramProps {
  /** What is drawn. */
  readonly figures: TurningTotals;
  /** Those of the whole count, which have every leg and movement that any part of it has. */
  readonly all: TurningTotals;
  readonly side: Side;
  /** What screen readers read in place of the drawing. */
  readonly label: string;
}

/**
 * The intersection from above, north up: the arrows of every approach with their volumes, the totals of approaches and
 * exits, and who crosses the legs. In the middle, the width of a line stands for the volume of the movement.
 */
export function Diagram({ figures, all, side, label }: DiagramProps) {
  const layout = layoutOf(
    legsOf(all),
    all.movements.some(({ turn }) => turn === 'U'),
    side,
  );
  const most = Math.max(1, ...figures.movements.map(({ volume }) => volume));
  return (
    <section
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
      tabIndex={0}
      aria-label={label}
      className="overflow-x-auto"
    >
      <svg
        role="img"
        aria-label={label}
        viewBox={layout.viewBox}
        direction="ltr"
        className="mx-auto block max-h-[48rem] w-full min-w-136 max-w-3xl"
      >
        {layout.legs.map((leg) => (
          <Road key={leg} {...{ leg, layout }} />
        ))}
        <g className="fill-none stroke-accent" opacity={0.4} strokeLinecap="butt">
          {figures.movements
            .filter(({ volume }) => volume > 0)
            .map(({ from, turn, volume }) => (
              <path
                key={`${from}${turn}`}
                d={pathOf(layout, from, turn)}
                strokeWidth={Math.max(MIN_WIDTH, (volume / most) * MAX_WIDTH)}
              />
            ))}
        </g>
        {layout.legs.map((leg) => (
          <LegFigures key={leg} {...{ leg, layout, figures, all }} />
        ))}
        <North viewBox={layout.viewBox} />
      </svg>
    </section>
  );
}

/** The widths of the lines in the middle. */
const MIN_WIDTH = 1.5;
const MAX_WIDTH = 30;

/** The distances from the box in the middle at which the parts of a leg lie. */
const AT = { crossing: 28, arrows: 80, volumes: 138, totals: 216, name: 272 } as const;
const STRIPE = 14;

function Road({ leg, layout: { half, radius } }: { readonly leg: Leg; readonly layout: Layout }) {
  const end = radius + LENGTH;
  const stripes = Math.floor((2 * half) / STRIPE);
  return (
    <g transform={`rotate(${angleOf(leg)})`}>
      <rect x={-half} y={-end} width={2 * half} height={end} className="fill-hover" />
      <path
        d={`M${-half} ${-radius}V${-end}M${half} ${-radius}V${-end}`}
        className="fill-none stroke-line-strong"
        strokeWidth={2}
      />
      <path
        d={`M0 ${-radius - AT.arrows + 24}V${-radius - AT.totals - 16}`}
        className="fill-none stroke-line-strong"
        strokeWidth={2}
        strokeDasharray="10 8"
      />
      <path
        d={Array.from(
          { length: stripes },
          (_, at) => `M${(at + 0.5) * STRIPE - half} ${-radius - 12}v-32`,
        ).join('')}
        className="fill-none stroke-line"
        strokeWidth={6}
      />
    </g>
  );
}

interface LegProps extends Pick<DiagramProps, 'figures' | 'all'> {
  readonly leg: Leg;
  readonly layout: Layout;
}

/** The figures of a leg. They are upright on every leg; only the arrows turn with it. */
function LegFigures({ leg, layout, figures, all }: LegProps) {
  const { t, i18n } = useTranslation('studies');
  const { side, half, radius } = layout;
  const number = new Intl.NumberFormat(i18n.language);
  const inward = side === 'right' ? -half / 2 : half / 2;
  const isApproach = ofLeg(all.approaches, leg) > 0;
  const isExit = ofLeg(all.exits, leg) > 0;
  return (
    <g>
      {fromLeg(all.movements, leg).map(({ turn }) => {
        const across = entryAcross(layout, turn);
        const volume = figures.movements.find((each) => each.from === leg && each.turn === turn)?.volume ?? 0;
        return (
          <g key={turn} className={classes(volume === 0 && 'opacity-60')}>
            <Arrow at={pointAt(leg, radius + AT.arrows, across)} angle={angleOf(leg)} {...{ turn, side }} />
            <Upright at={pointAt(leg, radius + AT.volumes, across)} size={20} className="font-semibold">
              {number.format(volume)}
            </Upright>
          </g>
        );
      })}
      {isExit && (
        <Arrow
          at={pointAt(leg, radius + AT.arrows, -inward)}
          angle={angleOf(leg) + 180}
          turn="T"
          side={side}
          isMuted
        />
      )}
      {isApproach && (
        <Total at={pointAt(leg, radius + AT.totals, inward)} travel={travelFrom(leg)}>
          {number.format(ofLeg(figures.approaches, leg))}
        </Total>
      )}
      {isExit && (
        <Total at={pointAt(leg, radius + AT.totals, -inward)} travel={travelTo(leg)} isMuted>
          {number.format(ofLeg(figures.exits, leg))}
        </Total>
      )}
      <text
        {...pointAt(leg, radius + AT.name, 0)}
        fontSize={17}
        textAnchor="middle"
        dominantBaseline="central"
        className="fill-text font-semibold"
      >
        {t(`legs.${leg}`)}
      </text>
      <Crossing
        at={pointAt(leg, radius + AT.crossing, 0)}
        pedestrians={number.format(ofLeg(figures.pedestriansByLeg, leg))}
        bicycles={number.format(ofLeg(figures.bicyclesByLeg, leg))}
      />
    </g>
  );
}

interface UprightProps {
  readonly at: Point;
  /** Of texts that are not longer than usual. */
  readonly size: number;
  readonly className?: string;
  readonly children: string;
}

/** The length of a text that fits, such as `1,284`. */
const USUAL_LENGTH = 5;

/** Long numbers have smaller digits. */
const sizeOf = (text: string, size: number): number =>
  Math.round(size * Math.min(1, USUAL_LENGTH / text.length));

function Upright({ at, size, className, children }: UprightProps) {
  return (
    <text
      {...at}
      fontSize={sizeOf(children, size)}
      textAnchor="middle"
      dominantBaseline="central"
      className={classes('figures fill-text', className)}
    >
      {children}
    </text>
  );
}

interface TotalProps {
  readonly at: Point;
  /** The direction of travel. */
  readonly travel: string;
  readonly isMuted?: boolean;
  readonly children: string;
}

function Total({ at: { x, y }, travel, isMuted = false, children }: TotalProps) {
  return (
    <>
      <Upright at={{ x, y: y - 15 }} size={15} className="fill-muted">
        {travel}
      </Upright>
      <Upright at={{ x, y: y + 7 }} size={24} className={isMuted ? 'fill-muted font-semibold' : 'font-bold'}>
        {children}
      </Upright>
    </>
  );
}

/** The paths of the arrows, as vehicles that move down the page see them where traffic drives on the right. */
const arrows: Readonly<Record<Turn, { readonly line: string; readonly head: string }>> = {
  T: { line: 'M0 -18V10', head: '0,20 -7,7 7,7' },
  L: { line: 'M-5 -18V3Q-5 10 2 10H6', head: '17,10 4,3 4,17' },
  R: { line: 'M5 -18V3Q5 10 -2 10H-6', head: '-17,10 -4,3 -4,17' },
  U: { line: 'M-8 -18V5a8 8 0 0 0 16 0V-5', head: '8,-18 1,-5 15,-5' },
};

interface ArrowProps {
  readonly at: Point;
  /** By how many degrees the arrow is turned clockwise from one that points down the page. */
  readonly angle: number;
  readonly turn: Turn;
  readonly side: Side;
  readonly isMuted?: boolean;
}

function Arrow({ at: { x, y }, angle, turn, side, isMuted = false }: ArrowProps) {
  const isMirrored = turn === 'U' && side === 'left';
  return (
    <g
      transform={`translate(${x} ${y}) rotate(${angle})${isMirrored ? ' scale(-1 1)' : ''}`}
      className={isMuted ? 'fill-muted stroke-muted' : 'fill-text stroke-text'}
    >
      <path d={arrows[turn].line} strokeWidth={3.5} className="fill-none" />
      <polygon points={arrows[turn].head} className="stroke-transparent" />
    </g>
  );
}

interface CrossingProps {
  readonly at: Point;
  readonly pedestrians: string;
  readonly bicycles: string;
}

/** Pedestrians and bicycles on the crosswalk of a leg. */
function Crossing({ at: { x, y }, pedestrians, bicycles }: CrossingProps) {
  const rows: readonly (readonly [IconName, string, number])[] = [
    ['pedestrian', pedestrians, y - 11],
    ['bicycle', bicycles, y + 11],
  ];
  return (
    <>
      <rect x={x - 44} y={y - 23} width={88} height={46} rx={6} className="fill-surface stroke-line" />
      {rows.map(([icon, count, middle]) => (
        <g key={icon}>
          <g transform={`translate(${x - 38} ${middle - 9})`}>
            <Icon name={icon} size={18} className="text-muted" />
          </g>
          <text
            x={x + 38}
            y={middle}
            fontSize={sizeOf(count, 17)}
            textAnchor="end"
            dominantBaseline="central"
            className="figures fill-text"
          >
            {count}
          </text>
        </g>
      ))}
    </>
  );
}

/** An arrow that points north, in the corner. */
function North({ viewBox }: { readonly viewBox: string }) {
  const { t } = useTranslation('studies');
  const [left = 0, top = 0] = viewBox.split(' ').map(Number);
  const at = { x: left + 34, y: top + 30 };
  return (
    <g className="fill-muted">
      <polygon
        points={`${at.x},${at.y - 20} ${at.x - 9},${at.y + 6} ${at.x},${at.y} ${at.x + 9},${at.y + 6}`}
      />
      <Upright at={{ x: at.x, y: at.y + 20 }} size={16} className="fill-muted">
        {t('legs.N')}
      </Upright>
    </g>
  );
}
