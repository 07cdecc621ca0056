/** Parses the Accept header and chooses the format of the response (RFC 9110 section 12.5.1; KEP-2334 for `as=`). */
import { own } from '../../lib/own.ts'
import { StatusError } from '../../machinery/status-error.ts'

export interface Transform {
  readonly as: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList'
  readonly version: 'v1' | 'v1beta1'
}

export interface Negotiated {
  readonly format: 'json' | 'yaml'
  /** True if the media type itself requests indented JSON (`pretty=1`). */
  readonly pretty: boolean
  readonly transform?: Transform
}

export interface MediaType {
  readonly type: string
  readonly quality: number
  readonly parameters: ReadonlyMap<string, string>
}

const parsed = new Map<string, readonly MediaType[]>()

/** The clauses of an Accept header, best first. Caches a few hundred headers, as they repeat. */
export function acceptClauses(header: string): readonly MediaType[] {
  const known = parsed.get(header)
  if (known) return known
  const clauses = header
    .split(',')
    .map((clause) => {
      const [type = '', ...rest] = clause.split(';').map((part) => part.trim())
      const parameters = new Map<string, string>()
      for (const parameter of rest) {
        const equals = parameter.indexOf('=')
        if (equals > 0) parameters.set(parameter.slice(0, equals).trim(), parameter.slice(equals + 1).trim())
      }
      const quality = Number(parameters.get('q') ?? 1)
      parameters.delete('q')
      return { type: type.toLowerCase(), quality: Number.isNaN(quality) ? 1 : quality, parameters }
    })
    .filter(({ type, quality }) => type !== '' && quality > 0)
  clauses.sort((a, b) => b.quality - a.quality)
  if (parsed.size > 500) parsed.clear()
  parsed.set(header, clauses)
  return clauses
}

const formats: Readonly<Record<string, 'json' | 'yaml'>> = {
  'application/json': 'json',
  'application/yaml': 'yaml',
  'application/*': 'json',
  '*/*': 'json',
}
const transforms = new Set(['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'])

/** 406 for an unknown media type. */
const unknownMediaType = (): StatusError => new StatusError(406, 'NotAcceptable', '406: Not Acceptable', {})

/** 406 for a known media type that does not support the requested `as=`. */
export const unsupportedTransform = (
  accepted = 'application/json, application/yaml, application/vnd.kubernetes.protobuf',
): StatusError => new StatusError(406, 'NotAcceptable', `only the following media types are accepted: ${accepted}`)

/** 406 for a known media type that does not support watches. */
export const unsupportedWatch = (): StatusError =>
  unsupportedTransform('application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch')

const asJson: Negotiated = { format: 'json', pretty: false }
const verdicts = new Map<string, Negotiated | 'unknown' | 'impossible'>()

function decide(header: string, tables: boolean): Negotiated | 'unknown' | 'impossible' {
  let known = false
  for (const { type, parameters } of acceptClauses(header)) {
    const format = own(formats, type)
    if (!format) continue
    known = true
    if ((parameters.get('stream') ?? 'watch') !== 'watch') continue
    const pretty = parameters.get('pretty') === '1'
    const [as = '', group, version] = [parameters.get('as'), parameters.get('g'), parameters.get('v')]
    if (!parameters.has('as') && group === undefined && version === undefined)
      return format === 'json' && !pretty ? asJson : { format, pretty }
    if (as === 'Table' && !tables) continue
    if (transforms.has(as) && group === 'meta.k8s.io' && (version === 'v1' || version === 'v1beta1'))
      return { format, pretty, transform: { as: as as Transform['as'], version } }
  }
  return known ? 'impossible' : 'unknown'
}

/**
 * The format of the response; without a header it is JSON. `tables`: true if the resource can be shown as a table.
 * Throws the two 406 errors of upstream.
 */
export function negotiate(accept: string | undefined, tables = true): Negotiated {
  if (!accept || accept === 'application/json' || accept === '*/*') return asJson
  const key = tables ? accept : `no table: ${accept}`
  let verdict = verdicts.get(key)
  if (!verdict) {
    verdict = decide(accept, tables)
    if (verdicts.size > 500) verdicts.clear()
    verdicts.set(key, verdict)
  }
  if (verdict === 'unknown') throw unknownMediaType()
  if (verdict === 'impossible') throw unsupportedTransform()
  return verdict
}
