import {
  Activity,
  AlertTriangle,
  Archive,
  ArrowDown,
  ArrowUp,
  Bell,
  BellOff,
  Bike,
  Bookmark,
  CalendarDays,
  Camera,
  Car,
  ChartColumn,
  Check,
  ChevronLeft,
  ChevronRight,
  ChevronsLeft,
  ChevronsRight,
  CircleAlert,
  CircleCheck,
  CircleHelp,
  CircleMinus,
  CircleX,
  Clock,
  Copy,
  Diamond,
  Download,
  Eye,
  FileText,
  Gauge,
  HardDrive,
  Image,
  KeyRound,
  LayoutDashboard,
  Link,
  List,
  ListFilter,
  Lock,
  LogOut,
  MapPin,
  Maximize,
  Menu,
  Minus,
  Moon,
  Octagon,
  Pencil,
  PersonStanding,
  Plus,
  Radio,
  RefreshCw,
  RotateCcw,
  Search,
  Send,
  Settings,
  ShieldAlert,
  Siren,
  Stethoscope,
  Table2,
  TrafficCone,
  Trash2,
  Users,
  Volume2,
  VolumeX,
  Wrench,
  X,
} from 'lucide-react';
import { classes } from './classes.ts';

/** The icons by meaning, so that a meaning has the same icon on every page. */
const icons = {
  acknowledge: Check,
  activity: Activity,
  add: Plus,
  alert: Bell,
  ascending: ArrowUp,
  backup: Archive,
  bicycle: Bike,
  calendar: CalendarDays,
  busy: TrafficCone,
  camera: Camera,
  chart: ChartColumn,
  close: X,
  collapse: ChevronsLeft,
  copy: Copy,
  critical: Octagon,
  delete: Trash2,
  descending: ArrowDown,
  doctor: Stethoscope,
  download: Download,
  edit: Pencil,
  events: Car,
  expand: ChevronsRight,
  failure: CircleAlert,
  file: FileText,
  filter: ListFilter,
  fullScreen: Maximize,
  good: CircleCheck,
  help: CircleHelp,
  high: AlertTriangle,
  hold: Lock,
  incident: Siren,
  key: KeyRound,
  less: Minus,
  link: Link,
  list: List,
  location: MapPin,
  low: CircleMinus,
  maintenance: Wrench,
  medium: Diamond,
  menu: Menu,
  muted: BellOff,
  next: ChevronRight,
  none: CircleMinus,
  offline: CircleX,
  overview: LayoutDashboard,
  image: Image,
  pedestrian: PersonStanding,
  previous: ChevronLeft,
  refresh: RefreshCw,
  reveal: Eye,
  save: Bookmark,
  search: Search,
  send: Send,
  sensor: Radio,
  settings: Settings,
  signOut: LogOut,
  silent: VolumeX,
  sound: Volume2,
  table: Table2,
  storage: HardDrive,
  theme: Moon,
  time: Clock,
  traffic: Gauge,
  undo: RotateCcw,
  users: Users,
  watchlist: ShieldAlert,
} as const;

export type IconName = keyof typeof icons;

interface IconProps {
  readonly name: IconName;
  readonly className?: string;
  /** In pixels; 16 by default. */
  readonly size?: number;
}

/** Icons with a direction, mirrored in right-to-left languages. */
const DIRECTED: ReadonlySet<IconName> = new Set(['next', 'previous', 'expand', 'collapse', 'signOut']);

/** A decorative icon, hidden from screen readers: a text or label must convey the same. */
export function Icon({ name, className, size = 16 }: IconProps) {
  const Drawing = icons[name];
  return (
    <Drawing
      aria-hidden="true"
      size={size}
      strokeWidth={2}
      className={classes('shrink-0', DIRECTED.has(name) && 'rtl:-scale-x-100', className)}
    />
  );
}
