/**
 * Representations: the forms in which objects, lists and watch events leave the server. All of them work on bytes that
 * are already encoded wherever they can.
 */
import { StatusError } from '../../machinery/status-error.ts'
import { toYaml } from '../../machinery/yaml.ts'
import type { Request } from '../http/exchange.ts'
import type { ServedResource } from '../registry/served-resource.ts'
import type { StoredObject } from '../registry/stored-object.ts'
import { negotiate } from './accept.ts'
import { nativeRepresentation } from './native.ts'
import { partialRepresentation } from './partial.ts'
import { tableRepresentation } from './table.ts'

export interface ListMeta {
  readonly resourceVersion: string
  readonly continue?: string
  readonly remainingItemCount?: number
}

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED'

export interface Representation {
  /** The same text means the same bytes for the same object: watches of one kind share encoded events. */
  readonly key: string
  readonly contentType: string
  /** One object as JSON. */
  object(object: StoredObject): readonly Buffer[]
  /** A list as JSON. */
  list(objects: readonly StoredObject[], meta: ListMeta): readonly Buffer[]
  /** One line of a watch. `first`: nothing was sent on this watch before. */
  event(type: EventType, object: StoredObject, first: boolean): Buffer
  /** Whether the first event differs from later ones. */
  readonly firstDiffers: boolean
  bookmark(revision: number, annotations?: Readonly<Record<string, string>>): Buffer
}

/** `,"annotations":…`, for bookmarks. */
export const bookmarkMeta = (revision: number, annotations?: Readonly<Record<string, string>>): string =>
  `{"resourceVersion":"${revision}","creationTimestamp":null${annotations ? `,"annotations":${JSON.stringify(annotations)}` : ''}}`

type Purpose = 'object' | 'list' | 'watch'

/** What the client's Accept header and `includeObject` ask for. Throws 406 and 400 as upstream does. */
export function representationFor(request: Request, resource: ServedResource, purpose: Purpose): Representation {
  const { format, transform } = negotiate(request.header('accept'))
  if (purpose === 'watch' && format === 'yaml') throw new StatusError(406, 'NotAcceptable', '406: Not Acceptable', {})
  const base = !transform
    ? nativeRepresentation(resource)
    : transform.as === 'Table'
      ? tableRepresentation(resource, transform.version, request.query.get('includeObject') ?? '')
      : partialRepresentation(resource, transform.version, listness(transform.as, resource, purpose))
  if (format === 'yaml') return inYaml(base)
  return wantsPretty(request) ? pretty(base) : base
}

/** PartialObjectMetadata is for single objects (and watches), PartialObjectMetadataList for lists. */
function listness(as: 'PartialObjectMetadata' | 'PartialObjectMetadataList', resource: ServedResource, purpose: Purpose): 'object' | 'list' {
  if (purpose === 'list' && as === 'PartialObjectMetadata') {
    throw new StatusError(406, 'NotAcceptable', `you requested PartialObjectMetadata, but the requested object is a list (${resource.listKind})`)
  }
  if (purpose !== 'list' && as === 'PartialObjectMetadataList') {
    throw new StatusError(406, 'NotAcceptable', `you requested PartialObjectMetadataList, but the requested object is not a list (${resource.definition.kind})`)
  }
  return as === 'PartialObjectMetadata' ? 'object' : 'list'
}

/** People's tools get indented JSON unless they ask otherwise. */
function wantsPretty(request: Request): boolean {
  const asked = request.query.get('pretty')
  if (asked !== null) return asked === 'true' || asked === '1'
  const agent = request.header('user-agent') ?? ''
  return agent.startsWith('curl') || agent.startsWith('Wget') || agent.startsWith('Mozilla/5.0')
}

const reread = (parts: readonly Buffer[]): unknown => JSON.parse(Buffer.concat(parts).toString())

const inYaml = (base: Representation): Representation => ({
  ...base,
  key: `yaml ${base.key}`,
  contentType: 'application/yaml',
  object: (object) => [Buffer.from(toYaml(reread(base.object(object))))],
  list: (objects, meta) => [Buffer.from(toYaml(reread(base.list(objects, meta))))],
})

const pretty = (base: Representation): Representation => ({
  ...base,
  key: `pretty ${base.key}`,
  object: (object) => [Buffer.from(`${JSON.stringify(reread(base.object(object)), null, 2)}\n`)],
  list: (objects, meta) => [Buffer.from(`${JSON.stringify(reread(base.list(objects, meta)), null, 2)}\n`)],
})
