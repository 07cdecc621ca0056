/**
 * Tables: server-side printing (KEP-2334 of SIG CLI). Rows come from cached cells; ages are filled in when they are
 * joined.
 */
import type { Clock } from '../../lib/clock/clock.ts'
import { badRequest } from '../../machinery/status-error.ts'
import type { EventType, ListMeta, Representation } from '../registry/cache/representation.ts'
import { cellsAt, columnsOf, rowTemplate } from '../registry/printing/row.ts'
import type { ServedResource } from '../registry/served-resource.ts'
import type { StoredObject } from '../registry/stored-object.ts'
import { partialHead } from './partial.ts'
import { gathered } from './pieces.ts'

type IncludeObject = 'None' | 'Metadata' | 'Object'

function includeObjectOf(value: string): IncludeObject {
  if (value === '') return 'Metadata'
  if (value === 'None' || value === 'Metadata' || value === 'Object') return value
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(value)}: must be ` +
      "'Metadata', 'Object', 'None', or empty",
  )
}

const comma = Buffer.from(',')
const tableTail = Buffer.from(']}')
const rowTail = Buffer.from('}')
const rowTailPartial = Buffer.from('}}')

/** The JSON of the columns of a resource. */
const columnDefinitions = (resource: ServedResource): string =>
  JSON.stringify(
    columnsOf(resource).map(({ name, type, format, description, priority }) => ({
      name,
      type,
      format,
      description,
      priority,
    })),
  )

export function tableRepresentation(
  resource: ServedResource,
  version: 'v1' | 'v1beta1',
  include: string,
  clock: Clock,
): Representation {
  const includeObject = includeObjectOf(include)
  const head = partialHead(version)
  const columns = columnDefinitions(resource)

  const row = (object: StoredObject, now: number): readonly Buffer[] => {
    const template = (object.row ??= rowTemplate(resource, object.parse()))
    const start = `{"cells":${cellsAt(template, now)}${template.conditions},"object":`
    if (includeObject === 'None') return [Buffer.from(`${start}null}`)]
    if (includeObject === 'Object') return [Buffer.from(start), object.bytes, rowTail]
    return [Buffer.from(start), head, object.metadata, rowTailPartial]
  }
  function* parts(meta: ListMeta, withColumns: boolean, objects: readonly StoredObject[]): Generator<Buffer, void> {
    const now = clock.now()
    yield Buffer.from(
      `{"kind":"Table","apiVersion":"meta.k8s.io/${version}","metadata":${JSON.stringify(meta)}` +
        `${withColumns ? `,"columnDefinitions":${columns}` : ''},"rows":[`,
    )
    for (const [i, object] of objects.entries()) {
      if (i > 0) yield comma
      yield* row(object, now)
    }
    yield tableTail
  }
  const table = (meta: ListMeta, withColumns: boolean, objects: readonly StoredObject[]): Buffer =>
    Buffer.concat([...parts(meta, withColumns, objects)])
  const metaOf = ({ revision }: StoredObject): ListMeta => ({ resourceVersion: revision ? String(revision) : '' })

  return {
    key: `table ${version} ${includeObject}`,
    contentType: 'application/json',
    firstDiffers: true,
    object: (object) => [table(metaOf(object), true, [object])],
    list: (objects, meta) => gathered(parts(meta, true, objects)),
    event: (type: EventType, object, first) =>
      Buffer.concat([
        Buffer.from(`{"type":"${type}","object":`),
        table(metaOf(object), first, [object]),
        Buffer.from('}\n'),
      ]),
    bookmark: (revision, annotations) =>
      Buffer.from(
        `{"type":"BOOKMARK","object":{"kind":"Table","apiVersion":"meta.k8s.io/${version}",` +
          `"metadata":${JSON.stringify({ resourceVersion: String(revision), ...(annotations && { annotations }) })},` +
          `"columnDefinitions":${columns},"rows":[]}}\n`,
      ),
  }
}
