/** Turns recorded requests into those of a trace: without secret values, and with bodies of a limited length. */
import { parseJson, writeJson } from '../../../lib/exact-json.ts'
import { fromYaml } from '../../../machinery/yaml.ts'
import type { Redaction } from './redaction.ts'
import type { RecordedRequest } from './request-recorder.ts'
import type { TracedBody, TracedRequest } from './trace-data.ts'

/** Longer texts are cut off. */
const maxTextLength = 16 * 1024
/** RecordedBodies cuts off texts after this length. */
const maxRequestBytes = 64 * 1024

export function tracedRequest(recorded: RecordedRequest, redaction: Redaction): TracedRequest {
  const { requestText, requestBytes, responseType, responseBody, isBodyDropped, ...request } = recorded
  const answer = responseBody && answerOf(recorded, redaction)
  const sent = requestBody(recorded, redaction)
  const { metadata } = (answer?.value ?? {}) as { readonly metadata?: ResultMeta }
  const isWrite = writes.has(request.verb) && request.code < 300
  const revision = isWrite ? Number(metadata?.resourceVersion) : Number.NaN
  return {
    ...request,
    path: redaction.path(request.path),
    userAgent: redaction.text(request.userAgent),
    name: request.name || (request.verb === 'create' && !request.subresource && metadata?.name) || '',
    ...(sent && { request: sent }),
    ...(answer && { response: answer.body }),
    ...(Number.isSafeInteger(revision) && revision > 0 && { wrote: revision }),
  }
}

interface ResultMeta {
  readonly name?: string
  readonly resourceVersion?: string
}

const writes: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete'])
const dropped = 'It was dropped: newer bodies have reached the limit of the recording.'

function requestBody(recorded: RecordedRequest, redaction: Redaction): TracedBody | undefined {
  const { requestText, requestBytes: bytes, contentType = '', isBodyDropped } = recorded
  if (bytes === 0) return undefined
  if (isBodyDropped) return { text: '', bytes, omitted: dropped }
  if (bytes > maxRequestBytes) return { text: '', bytes, omitted: `It is larger than ${maxRequestBytes} bytes.` }
  return bodyOf(requestText, bytes, contentType, isForSecrets(recorded), redaction).body
}

function answerOf(recorded: RecordedRequest, redaction: Redaction): { body: TracedBody; value?: unknown } | undefined {
  const { responseBody, responseType = '' } = recorded
  const { pieces, bytes } = responseBody!()
  if (bytes === 0) return undefined
  if (pieces.length === 0) return { body: { text: '', bytes, omitted: 'It is larger than 1 MiB.' } }
  const text = Buffer.concat(pieces).toString()
  return bodyOf(text, bytes, responseType, isForSecrets(recorded), redaction)
}

const isForSecrets = ({ group, resource }: RecordedRequest): boolean => group === '' && resource === 'secrets'

function bodyOf(
  text: string,
  bytes: number,
  type: string,
  isSecret: boolean,
  redaction: Redaction,
): { body: TracedBody; value?: unknown } {
  if (/^text\/plain/.test(type) && !isSecret) return { body: cut(redaction.text(text), bytes) }
  const read = readerOf(type)
  if (!read) return { body: { text: '', bytes, omitted: `Its type is ${type || 'not given'}, which is not shown.` } }
  try {
    const value = read(text)
    return { body: cut(writeJson(redaction.value(value, isSecret)), bytes), value }
  } catch {
    return { body: { text: '', bytes, omitted: `It cannot be read as ${type}.` } }
  }
}

function readerOf(type: string): ((text: string) => unknown) | undefined {
  const [essence = ''] = type.split(';')
  if (/[/+]json$/.test(essence)) return parseJson
  // The type of kubectl apply --server-side, whose text is YAML or JSON.
  if (/[/+]yaml$/.test(essence)) return fromYaml
  return undefined
}

function cut(text: string, bytes: number): TracedBody {
  if (text.length <= maxTextLength) return { text, bytes }
  return {
    text: text.slice(0, maxTextLength),
    bytes,
    omitted: `The text is cut off after ${maxTextLength} characters.`,
  }
}
