/** An element of an XML document. Prefixes of namespaces are removed from names. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** The text directly in the element, trimmed. */
  readonly text: string;
  readonly children: readonly XmlElement[];
}

/** The content of one part, by its syntax, which is determined from the bytes and not from the declared type. */
export type Content =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'xml'; readonly root: XmlElement }
  | { readonly kind: 'text'; readonly text: string }
  /** `address` is the address at which the image is served: `/images/<sha256>`. */
  | { readonly kind: 'image'; readonly address: string }
  /**
   * It cannot be parsed; `reason` is a sentence. `whole` is what an incomplete document contains before its end is missing,
   * without any value that may be cut: formats may use it where they know that nothing of a vehicle is missing.
   */
  | {
      readonly kind: 'unreadable';
      readonly reason: string;
      readonly whole?: Extract<Content, { readonly kind: 'json' | 'xml' }>;
    };

/** One part of a multipart body, one field of a form, or the whole of any other body. */
export interface MessagePart {
  readonly name: string | null;
  readonly fileName: string | null;
  readonly contentType: string | null;
  readonly content: Content;
}

/**
 * A message from a device, as formats read it. Images in base64 inside JSON, XML and forms have been replaced by the
 * addresses at which they are served, so that a format passes them on as it finds them.
 */
export interface DeviceMessage {
  readonly parts: readonly MessagePart[];
  /** The path below the address of the connection, `/NotificationInfo/KeepAlive` for example; empty if none. */
  readonly path: string;
  /** The MQTT topic; null for HTTP. */
  readonly topic: string | null;
  /** The HTTP headers that mappings may see (`headersForMappings`); absent for other formats and for MQTT. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Unix milliseconds */
  readonly receivedAt: number;
}
