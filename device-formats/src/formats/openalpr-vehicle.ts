import { arrayOf, namesOf, objectOf, textOf, valueAt } from '../json-values.ts';

type Json = Readonly<Record<string, unknown>>;

/** Where and by which agent a vehicle was seen. */
export function about(body: Json): Json {
  return {
    vendor: 'openalpr',
    device: deviceOf(body)[0],
    agent: textOf(body.agent_uid),
    site: textOf(body.site_id) ?? textOf(body.site_name),
    direction: body.travel_direction,
    country: textOf(body.country),
  };
}

/** What a vehicle looks like. */
export function appearance(body: Json): Json {
  return {
    make: nameIn(body, 'make'),
    model: nameIn(body, 'make_model'),
    color: nameIn(body, 'color'),
    year: nameIn(body, 'year'),
    isParked: body.is_parked,
  };
}

/** The most probable name of a property of the vehicle. */
export function nameIn(body: Json, property: string): string | null {
  return textOf(valueAt(body, `vehicle.${property}.0.name`));
}

/** The name of the camera. */
export function nameOf(body: Json): string | null {
  return textOf(body.camera_name) ?? textOf(valueAt(body, 'web_server_config.camera_label'));
}

/** The names of the camera, and of the agent that it belongs to. */
export function deviceOf(body: Json): string[] {
  return namesOf(body.camera_id ?? body.camera_number, nameOf(body), body.agent_uid, body.site_id);
}

/** The names of the device that sends a heartbeat: of the camera, if the agent has only one, and of the agent. */
export function heartbeatDevice(body: Json): string[] {
  const streams = arrayOf(body.video_streams).map(objectOf);
  return namesOf(
    ...(streams.length === 1 ? [streams[0]?.camera_id, streams[0]?.camera_name] : []),
    body.agent_uid,
    body.agent_hostname,
    body.site_id,
  );
}

/** The message without secrets: `custom_data` may contain the key by which the agent identifies itself. */
export function withoutSecrets(body: Json): Json {
  const { custom_data: data, ...rest } = body;
  if (data === undefined) return rest;
  const kept = Object.entries(objectOf(data)).filter(([name]) => !/api.?key|token|password/i.test(name));
  return { ...rest, custom_data: Object.fromEntries(kept) };
}
