/** Reads request bodies: size limit, content types, and the errors for unreadable bodies, with upstream's messages. */

import { protobufNumbers } from '../../api/schema/protobuf.ts'
import { parseExactJson } from '../../lib/exact-json.ts'
import { goJsonError, goJsonType } from '../../machinery/decode/go-json.ts'
import { checkValues } from '../../machinery/decode/index.ts'
import { parseWithSharedFields } from '../../machinery/managed-fields/fields-cache.ts'
import { type Envelope, MessageDecoder, openEnvelope } from '../../machinery/protobuf/index.ts'
import type { StructType } from '../../machinery/schema.ts'
import { badRequest, StatusError } from '../../machinery/status-error.ts'
import { parseYaml } from '../../machinery/yaml.ts'
import type { Request } from '../http/exchange.ts'

/** Upstream's limit: twice the size of an etcd request. */
export const maxBodyBytes = 3 * 1024 * 1024

export interface Body {
  /** The text of JSON and YAML; empty for protobuf. */
  readonly text: string
  readonly format: 'json' | 'yaml' | 'protobuf'
  /** True if there is no body at all. */
  readonly empty: boolean
  /**
   * The parsed body; for protobuf, whose fields have no names, only `apiVersion` and `kind`. Throws 400, naming the
   * expected kind.
   */
  value(kind: string): unknown
  /** Errors of a strict YAML parser about duplicate keys; set by `value`. */
  readonly duplicateKeys: readonly string[]
  /**
   * The fields that `value` lacks, decoded as `type`. Throws DecodeError, and 415 if the type has no known protobuf
   * form (custom resources).
   */
  readonly fields?: (type: StructType) => Record<string, unknown>
}

const textTypes = ['application/json', 'application/yaml']
const protobufType = 'application/vnd.kubernetes.protobuf'

/** 415. */
export const unsupported = (accepted: readonly string[] = [...textTypes, protobufType]): StatusError =>
  new StatusError(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  )

/** The media type of a body without its parameters, in lower case. */
export const mediaType = (request: Request): string =>
  (request.header('content-type') ?? '').split(';', 1)[0]!.trim().toLowerCase()

/** Reads a body of JSON, YAML or protobuf; no content type means JSON. Throws 413 and 415. */
export async function readBody(request: Request): Promise<Body> {
  const type = mediaType(request)
  const bytes = await request.body(maxBodyBytes)
  if (type === protobufType && bytes.length > 0) return protobufBody(bytes)
  const format = type === '' || type === 'application/json' ? 'json' : type === 'application/yaml' ? 'yaml' : undefined
  if (!format) {
    if (bytes.length === 0) return bodyOf('', 'json')
    throw unsupported()
  }
  return bodyOf(bytes.toString(), format, bytes)
}

const messages = new MessageDecoder(protobufNumbers)

function protobufBody(bytes: Buffer): Body {
  let envelope: Envelope | undefined
  return {
    text: '',
    format: 'protobuf',
    empty: false,
    duplicateKeys: [],
    value(kind) {
      try {
        envelope ??= openEnvelope(bytes)
      } catch (error) {
        throw badRequest(
          `the object provided is unrecognized (must be of type ${kind}): ${(error as Error).message} ` +
            `(${summary(bytes)})`,
        )
      }
      return { apiVersion: envelope.apiVersion, kind: envelope.kind }
    },
    fields(type) {
      if (!messages.isKnown(type)) throw unsupported(textTypes)
      envelope ??= openEnvelope(bytes)
      return messages.decode(type, envelope.raw)
    },
  }
}

function bodyOf(text: string, format: 'json' | 'yaml', bytes?: Buffer): Body {
  let repeated: readonly string[] = []
  return {
    text,
    format,
    empty: text === '',
    get duplicateKeys() {
      return repeated
    },
    value(kind) {
      if (format === 'json') checkValues(text)
      let value: unknown
      try {
        if (format === 'json') value = parseWithSharedFields(text, parseExactJson)
        else ({ value, strict: repeated } = parseYaml(text))
      } catch (error) {
        throw unrecognized(
          kind,
          text,
          format === 'json'
            ? `json parse error: ${goJsonError(text, error as Error)}`
            : `yaml: ${(error as Error).message}`,
          bytes,
        )
      }
      if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        if (value === null && format === 'json') return {}
        throw unrecognized(
          kind,
          text,
          `json parse error: json: cannot unmarshal ${goKind(value)} into Go value of type struct { APIVersion ` +
            'string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }',
        )
      }
      return value
    },
  }
}

/**
 * 400 for an unreadable body. `bytes` is the body, if the text does not represent it completely (compressed bodies,
 * above all: they are not decompressed).
 */
export const unrecognized = (kind: string, text: string, why: string, bytes: Buffer = Buffer.from(text)): StatusError =>
  badRequest(
    `the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; ${why} ` +
      `(${summary(bytes)})`,
  )

const summaryBytes = 30

/** The start of a body: as text if it looks like JSON, otherwise in hex. */
function summary(bytes: Buffer): string {
  if (bytes.length === 0) return '<empty>'
  const start = bytes.subarray(0, summaryBytes)
  const shown = bytes[0] === 0x7b ? start.toString() : start.toString('hex')
  return bytes.length > summaryBytes ? `${shown} ...` : shown
}

const goKind = (value: unknown): string => (value === null ? 'null' : goJsonType(value))
