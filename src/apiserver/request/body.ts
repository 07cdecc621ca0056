/** Reads request bodies: size limit, content types, and the errors of bodies that cannot be read, in upstream's words. */
import { badRequest, StatusError } from '../../machinery/status-error.ts'
import { fromYaml } from '../../machinery/yaml.ts'
import type { Request } from '../http/exchange.ts'

/** Upstream's limit: what fits into an etcd request twice. */
export const maxBodyBytes = 3 * 1024 * 1024

export interface Body {
  readonly text: string
  readonly format: 'json' | 'yaml'
  /** The parsed body. Throws 400, naming the kind that was expected. */
  value(kind: string): unknown
}

const unsupported = (): StatusError =>
  new StatusError(415, 'UnsupportedMediaType', 'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf')

/** The media type of a body without its parameters, in lower case. */
export const mediaType = (request: Request): string => (request.header('content-type') ?? '').split(';', 1)[0]!.trim().toLowerCase()

/** Reads a body of JSON or YAML; no content type means JSON. Throws 413 and 415. */
export async function readBody(request: Request): Promise<Body> {
  const type = mediaType(request)
  const bytes = await request.body(maxBodyBytes)
  const format = type === '' || type === 'application/json' ? 'json' : type === 'application/yaml' ? 'yaml' : undefined
  if (!format) {
    if (bytes.length === 0) return bodyOf('', 'json')
    throw unsupported()
  }
  return bodyOf(bytes.toString(), format)
}

function bodyOf(text: string, format: 'json' | 'yaml'): Body {
  return {
    text,
    format,
    value(kind) {
      let value: unknown
      try {
        value = format === 'json' ? JSON.parse(text) : fromYaml(text)
      } catch (error) {
        throw unrecognized(kind, text, format === 'json' ? `json parse error: ${goJsonError(text, error as Error)}` : `yaml: ${(error as Error).message}`)
      }
      if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        if (value === null && format === 'json') return {}
        throw unrecognized(kind, text, `json parse error: json: cannot unmarshal ${goKind(value)} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`)
      }
      return value
    },
  }
}

/** 400: nothing can be made of the body. */
export const unrecognized = (kind: string, text: string, why: string): StatusError =>
  badRequest(`the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; ${why} (${summary(Buffer.from(text))})`)

const summaryBytes = 30

/** The start of a body: as text if it looks like JSON, else in hex. */
function summary(bytes: Buffer): string {
  if (bytes.length === 0) return '<empty>'
  const start = bytes.subarray(0, summaryBytes)
  const shown = bytes[0] === 0x7b ? start.toString() : start.toString('hex')
  return bytes.length > summaryBytes ? `${shown} ...` : shown
}

const goKind = (value: unknown): string => (Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : value === null ? 'null' : typeof value)

/** What Go's parser says where V8's stopped. */
function goJsonError(text: string, error: Error): string {
  const position = /position (\d+)/.exec(error.message)
  const at = position ? Number(position[1]) : text.length
  if (!position || at >= text.length || error.message.startsWith('Unterminated')) return 'unexpected end of JSON input'
  return `invalid character ${JSON.stringify(text[at]).replace(/^"|"$/g, "'")} looking for beginning of value`
}
