import type { DeviceFormat } from '@gantry/contract/connections';
import { formats } from '@gantry/device-formats';

interface Support {
  /** What is read, and what is not. */
  readonly reads: string;
  /** What was verified with messages of real devices. */
  readonly captured: string;
  /** What is known from documentation only. */
  readonly documented: string;
}

const NOTHING = 'Nothing';

/** What each format supports, and how it was verified. */
const SUPPORT: Readonly<Record<DeviceFormat, Support>> = {
  hikvision: {
    reads:
      'ANPR with images, TFS violations, AID incidents, vehicle detection, and the answer of a plate query, as multipart, bare XML or JSON, with any namespace. If the end of a message is missing, a whole recognition in it is used, with a warning. `videoloss` and inactive alarms are liveness signals. TPS figures are read as counts of each lane if they name their interval; light vehicles are LIGHT, all larger ones HEAVY.',
    captured: 'ANPR of DeepinView V5.8, field detection of an NVR, the plate query, the multipart framing',
    documented: 'TFS, AID, the JSON variant',
  },
  dahua: {
    reads:
      'EventHttpUpload and EventAutoUpload with images after the text, lines of snapManager and eventManager (`Events[0]…`, `ReturnEvents[0]…`), notifyEventStream, and ITSAPI with its three fixed paths, with or without `Image`; also Intelbras. `RealUTC` is preferred to `UTC`, which is local time. The text of an object is a plate only if the object is one; that of a vehicle is its brand.',
    captured: 'notifyEventStream, snapManager, KeepAlive and DeviceInfo',
    documented: 'TollgateInfo, the framing of EventHttpUpload',
  },
  platerecognizer: {
    reads:
      'Webhooks of Stream and Snapshot, versions 1 and 2, as multipart, JSON or form; one event for each result.',
    captured: "The payload of the maker's webhook tester",
    documented: 'Version 2, Snapshot, the status of cameras',
  },
  openalpr: {
    reads:
      '`alpr_results` and `alpr_group` of one vehicle become one event; alerts, vehicles without a plate, heartbeats, and agents that send times in seconds are also read. An alert that arrives after its group adds no tag.',
    captured: 'Groups and alerts',
    documented: 'Results, vehicles, heartbeats',
  },
  frigate: {
    reads:
      'Over MQTT or HTTP: `events` (new, update and end of one object become one event with the best plate), `tracked_object_update` of type lpr, and the topic of frigate_plate_recognizer. A `sub_label` is a name, never a plate. Images are not fetched.',
    captured: 'The topic of frigate_plate_recognizer, part of an event from 2023',
    documented: 'Everything else',
  },
  'axis-lpv': {
    reads:
      'AXIS License Plate Verifier by HTTP, as multipart or JSON with ImageArray; new, update and lost of one car become one event with the best plate. Over MQTT, ALPV.AllPlates in the same way, without images.',
    captured: 'Events of two cameras, one with a plate that is not ASCII and a PNG that claims to be a JPEG',
    documented: 'Heartbeats, MQTT',
  },
  'axis-aoa': {
    reads:
      'AXIS Object Analytics over MQTT: scenarios that concern one vehicle. Its counts are running totals since a reset that it does not name, and are not read.',
    captured: NOTHING,
    documented: 'Everything',
  },
  'unifi-protect': {
    reads:
      'Webhooks of the Alarm Manager; several triggers about one vehicle become one event. Events of the API and its smart tracks, as bridges forward them.',
    captured: 'An alarm with a plate, an event of the private API',
    documented: 'Custom headers',
  },
  tvt: {
    reads:
      'Cameras (IPC 1.x) and NVRs (NVR 2.0) of TVT and its brands such as Viewtron: plates, vehicles, illegal parking, keepalives. Persons are left out.',
    captured: NOTHING,
    documented: "Everything, with the maker's examples",
  },
  milesight: {
    reads:
      'Plates with attributes and violations, as JSON by POST, or as a query by GET, which may contain only the plate. Counts that name their interval (start_time, end_time) are read; others may be running totals, and are not. Neither they become events, nor the entrance of a region by anything but a vehicle. Local time needs the time zone of the connection.',
    captured: NOTHING,
    documented: 'Everything',
  },
  verkada: {
    reads:
      'Webhooks for plates and plates of interest. A signature is checked, and required where the address has no token. Images are not fetched.',
    captured: 'The shape of a plate webhook',
    documented: 'The form of the signature',
  },
  tattile: {
    reads: 'XML and JSON with any root element. Local time needs the time zone of the connection.',
    captured: NOTHING,
    documented: 'Everything',
  },
  codeproject: {
    reads:
      'Blue Iris with CodeProject.AI: `ai_dump`, `plate_number` and `memo`, also in the form of ALPR Database. An entry of the memo is a plate if it is marked as one, or is one word with a digit and without small letters.',
    captured: 'A dump of the ALPR module',
    documented: 'The memo list',
  },
  huawei: {
    reads: 'Several vehicles in a message, and the events speeding, wrong way and parking.',
    captured: NOTHING,
    documented: 'Everything',
  },
  uniview: {
    reads: 'Notifications of LAPI with `VehicleInfoList`.',
    captured: NOTHING,
    documented: 'Everything',
  },
  genetec: {
    reads: 'AutoVu and SharpOS exports in JSON and XML.',
    captured: NOTHING,
    documented: 'Everything',
  },
  ops243: {
    reads:
      'OmniPreSense radars through `gantry-edge`: JSON lines of objects and speeds, and lines such as `A+045`.',
    captured: 'Object lines, serial lines',
    documented: 'Other output modes',
  },
  fiware: {
    reads:
      'NGSI-v2 and NGSI-LD notifications and entities: TrafficViolation, AnprFlowObserved, RoadAccident. TrafficFlowObserved and ItemFlowObserved are counts of their interval; a negative or null intensity is a gap.',
    captured: 'The examples of the data models',
    documented: 'Notifications',
  },
  datex2: {
    reads:
      'DATEX II 2 and 3 in XML, SOAP and JSON: situations become incidents, with all values of their public comments. An unknown severity counts as MEDIUM, and is named with the message. Flows of measured data are counts if the length of their interval is known: −1 and values with dataError are gaps.',
    captured:
      'Situations and measured data of Finland, France and the Netherlands, the official JSON example',
    documented: 'SOAP push',
  },
  sensorthings: {
    reads:
      'Observations of OGC SensorThings: speeds of single vehicles. Numbers of vehicles, bicycles or pedestrians are counts of their interval; a part of all motor vehicles (trucks) and other figures are not read.',
    captured: 'A list of observations',
    documented: 'MQTT',
  },
  mapped: {
    reads:
      'Any JSON, XML or form, through a JSONata expression that you write. `connections.tryReading` and the console show its result for the last message before you save it.',
    captured: 'The payloads of telraam, OpenDataCam, nwave and others, in the tests',
    documented: NOTHING,
  },
  gantry: {
    reads: 'The JSON of `events.ingest` without the key: one event, an array, or `{events: [...]}`.',
    captured: "Messages of Gantry's own tests",
    documented: NOTHING,
  },
};

/** Placeholders for the values of a connection. */
const EXAMPLE = {
  url: 'http://gantry.example.org:4000/gateway/FORMAT/TOKEN',
  token: 'TOKEN',
  username: 'USER',
  password: 'PASSWORD',
};

/** docs/devices.md */
export const devicesPage = (): string => {
  const sections = formats.map(({ name, label, transports, instructions }) => {
    const { reads, captured, documented } = SUPPORT[name];
    const url = EXAMPLE.url.replace('FORMAT', name);
    const steps = instructions({ ...EXAMPLE, url }).map((step, at) => `${at + 1}. ${step}`);
    return `## ${label}

Format \`${name}\`, over ${transports.map((each) => (each === 'http' ? 'HTTP' : 'MQTT')).join(' and ')}. ${reads}

| Verified with captured messages | From documentation only |
|---|---|
| ${captured} | ${documented} |

${steps.join('\n')}
`;
  });
  return `# Devices

Cameras, plate readers, radars and other systems report to Gantry in their own formats. Register a sensor, connect the device to it (in the
console: the sensor's page, *Connect a device*; in the API: \`connections.create\`), and copy the values that are shown there into the
configuration of the device. In the steps below, \`TOKEN\`, \`USER\` and \`PASSWORD\` stand for the values of your connection, and
\`gantry.example.org:4000\` for the address of your service (\`GATEWAY_URL\`).

- **How a device identifies itself.** By the token in the address; where it cannot send to such an address, by user name and password (Basic or
  Digest), by a header (\`x-api-key\`, \`Authorization: Bearer\` or \`Token\`), by the signature of the body (Verkada), or by a key in the body
  (OpenALPR). On fixed paths, the user name identifies the connection.
- **The answer.** 200, or the answer that the maker of the device documents, as soon as the message is stored unchanged, whatever its content.
  401 or 404 for an unknown sender, 413 above 10 MB, 500,000 elements of XML or 1,000,000 values of JSON, 415 for a compression other than
  gzip, deflate and br (10 MB without it), 400 if it is damaged, and 503 while the database is unavailable. Programs that send Gantry JSON, FIWARE,
  DATEX II, SensorThings or a mapped format are answered 400 if nothing of a body can be read; it is stored with the reason. Cameras take
  any error for an outage, so they get 200 and the reason stands in the messages of the connection (status REFUSED). If a device does not resend messages, its
  message is written to disk first, and to the database when it is available again.
- **Repetitions.** A message becomes one event, however often it arrives. If a device sends neither a time nor an id, an equal message within
  60 seconds counts as a repetition; for radars within 5.
- **Too many messages.** A connection that sends far more than its sensor is expected to send is answered 429, and shows how many of its messages were refused.
- **Too large messages.** JSON with more than 1,000,000 values, messages of Hikvision, Plate Recognizer, OpenALPR or Verkada with more than
  1,000 vehicles, and others with more than 100, are kept with the reason, but do not become events.
- **The result of a message.** \`connections.getMessages\` and the console show every message for \`DEVICE_MESSAGE_DAYS\` with its images,
  its status, the reason, and the events it became. After a change of the connection, \`connections.replay\` processes messages again; no event
  is stored twice.
- **Time.** Times are read as Unix times (s, ms, µs, ns) and in all common forms: ISO 8601, \`2026/11/20 14:51:24\`, \`20.11.2026 14:51:24\`,
  \`20261120T145124\`, \`20 Nov 2026 02:51:24 PM\`, with a fraction after a point or comma, and an offset such as \`Z\`, \`+8:00\`, \`+08\` or \`+0800\`.
  A time without an offset is in the time zone of the connection. \`20/11/2026\` is read if \`options.dayFirst\` says whether the day (true) or the
  month (false) comes first. If there is no time, or one that cannot be read, is before the year 2000 or more than five minutes ahead, the event
  has the time of receipt: \`metadata.clock\` says \`receipt\`, and the reason of the message names the field, its value and what would be right.
- **Clocks.** The page of a sensor (\`sensors.getClock\`) shows how far its clock is off: the median time from its latest 21 events to their
  receipt, without those that waited in a buffer. 30 s is a warning, 5 minutes an error; whole hours point to a wrong time zone or daylight
  saving time. It also counts the events whose times could not be used. \`gantry doctor\` names these sensors.
- **NVRs.** One nvr may report for many cameras: \`options.sensors\` assigns channels, MAC addresses, serial numbers or names to
  sensors. A device that is not assigned is listed as a discovery, as are two cameras of Frigate, UniFi Protect and others on one
  connection without this option. One call makes it a sensor and processes the messages that it has already sent.
- **How a vehicle passed.** Direction, lane, class, length, headway and gap are read where their words are understood
  (\`northbound\`, \`SouthToNorth\`, \`approaching\`, \`sedan\`, \`Lkw\`); as the device wrote them, they stay in \`metadata\`.
  "Forward", "in", "Obverse" and angles in the image depend on the maker or the installation, and are only there.
- **Counts of intervals** (\`15 min: 42 cars\`) are read as \`counts.ingest\` takes them, and do not become events. A gap (null, −1, an error) is not a
  zero. Running totals are not read, because the difference of two messages depends on what happened between them. Set the options
  \`periodSeconds\` and \`periodTime\` of the connection for counts whose interval the messages do not name, and assign each site of a
  publication to a sensor in \`options.sensors\`. Other figures about several vehicles are kept as messages; they do not affect V85 or violations.
- **An unreliable link:** [gantry-edge](../edge/README.md) stores messages next to the device until they can be sent.
- **Before you connect a device:** \`npm run gateway -- try <format> <file>\` prints the events that a captured body would become.

Menu names differ between firmware versions.

${sections.join('\n')}
_Generated from \`device-formats/src/formats\` by \`npm run generate\`._
`;
};
