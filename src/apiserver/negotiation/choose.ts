/** Chooses the representation of a response by what the client accepts and what the resource supports. */
import { type Clock, systemClock } from '../../lib/clock/clock.ts'
import { parseJson } from '../../lib/exact-json.ts'
import { StatusError } from '../../machinery/status-error.ts'
import { toYaml } from '../../machinery/yaml.ts'
import type { Request } from '../http/exchange.ts'
import type { Representation } from '../registry/cache/representation.ts'
import type { ServedResource } from '../registry/served-resource.ts'
import { negotiate, type Transform, unsupportedWatch } from './accept.ts'
import { nativeRepresentation } from './native.ts'
import { partialRepresentation } from './partial.ts'
import { indented, wantsPretty } from './pretty.ts'
import { tableRepresentation } from './table.ts'

/** Reviews have no tables. */
type Purpose = 'object' | 'list' | 'watch' | 'review'

/**
 * The representation for the client's Accept header and `includeObject`. Ages in tables are those at the clock's time.
 * Throws 406 and 400 as upstream does.
 */
export function representationFor(
  request: Request,
  resource: ServedResource,
  purpose: Purpose,
  clock = systemClock,
): Representation {
  const { format, pretty, transform } = negotiate(request.header('accept'), purpose !== 'review')
  if (purpose === 'watch' && format === 'yaml') throw unsupportedWatch()
  const base = transform ? transformed(request, resource, transform, purpose, clock) : nativeRepresentation(resource)
  if (format === 'yaml') return inYaml(base)
  return pretty || wantsPretty(request) ? inLines(base) : base
}

function transformed(
  request: Request,
  resource: ServedResource,
  { as, version }: Transform,
  purpose: Purpose,
  clock: Clock,
): Representation {
  if (as === 'Table') return tableRepresentation(resource, version, request.query.get('includeObject') ?? '', clock)
  // PartialObjectMetadata is for single objects (and watches), PartialObjectMetadataList for lists.
  if ((as === 'PartialObjectMetadataList') === (purpose === 'list')) return partialRepresentation(version)
  const shown = purpose === 'list' ? `a list (${resource.listKind})` : `not a list (${resource.definition.kind})`
  throw new StatusError(406, 'NotAcceptable', `you requested ${as}, but the requested object is ${shown}`)
}

const reread = (parts: Iterable<Buffer>): unknown => parseJson(Buffer.concat([...parts]).toString())

const inYaml = (base: Representation): Representation => ({
  ...base,
  key: `yaml ${base.key}`,
  contentType: 'application/yaml',
  object: (object) => [Buffer.from(toYaml(reread(base.object(object))))],
  list: (objects, meta) => [Buffer.from(toYaml(reread(base.list(objects, meta))))],
})

const inLines = (base: Representation): Representation => ({
  ...base,
  key: `pretty ${base.key}`,
  object: (object) => [Buffer.from(indented(reread(base.object(object))))],
  list: (objects, meta) => [Buffer.from(indented(reread(base.list(objects, meta))))],
})
