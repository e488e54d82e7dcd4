import type { AuthServices } from '../accounts/start.ts';
import type { ActivityServices } from '../activity/looks.ts';
import type { CaseServices } from '../cases/start.ts';
import type { ConnectionServices } from '../devices/context.ts';
import type { EvidenceServices } from '../evidence/start.ts';
import type { HotlistServices } from '../hotlists/start.ts';
import type { ImageServices } from '../images/start.ts';
import type { IngestServices } from '../ingest/start.ts';
import type { MapServices } from '../map/start.ts';
import type { NoticeServices } from '../notices/start.ts';
import type { BackupServices } from '../operations/backup/start.ts';
import type { RetentionServices } from '../operations/retention/schedule.ts';
import type { Core } from '../platform/context.ts';
import type { RealtimeServices } from '../realtime/start.ts';
import type { PackageServices } from '../reports/packages/start.ts';
import type { ReportServices } from '../reports/start.ts';
import type { SensorServices } from '../sensors/start.ts';
import type { WatchlistServices } from '../watchlist/start.ts';
import type { WebhookServices } from '../webhooks/start.ts';

/** The services of all modules. `programs/app` builds it and passes it to the API. */
export interface AppContext
  extends Core,
    ActivityServices,
    AuthServices,
    RealtimeServices,
    SensorServices,
    ConnectionServices,
    ImageServices,
    CaseServices,
    EvidenceServices,
    WatchlistServices,
    HotlistServices,
    MapServices,
    WebhookServices,
    NoticeServices,
    IngestServices,
    ReportServices,
    PackageServices,
    RetentionServices,
    BackupServices {}
