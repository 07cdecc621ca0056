/** Parameters of operations in the path and in the query, as both OpenAPI versions show them. */

interface Parameter {
  readonly in: 'path' | 'query'
  readonly type: 'string' | 'integer' | 'boolean'
  readonly description: string
}

const query = (type: Parameter['type'], description: string): Parameter => ({ in: 'query', type, description })
const path = (description: string): Parameter => ({ in: 'path', type: 'string', description })

const parameters = {
  name: path('name of the object'),
  namespace: path('namespace of the object, such as for teams and projects'),
  path: path('path of the URL to use for the request'),
  pretty: query('string', 'If "true", the answer is indented.'),
  allowWatchBookmarks: query('boolean', 'Asks for watch events of type BOOKMARK.'),
  continue: query('string', 'Where the previous page of the list ended, as its metadata said.'),
  fieldSelector: query('string', 'Restricts the list to objects with these fields. Defaults to everything.'),
  labelSelector: query('string', 'Restricts the list to objects with these labels. Defaults to everything.'),
  limit: query('integer', 'The most objects that a page of the list may have.'),
  resourceVersion: query('string', 'The version that the answer may be based on. Defaults to unset.'),
  resourceVersionMatch: query('string', 'How resourceVersion is meant: Exact or NotOlderThan. Defaults to unset.'),
  sendInitialEvents: query('boolean', 'Makes a watch begin with the objects that are there, closed by a bookmark.'),
  timeoutSeconds: query('integer', 'How long a list or watch may last.'),
  watch: query('boolean', 'Asks for a stream of changes instead of the list.'),
  dryRun: query('string', 'All: the request is carried out up to storing, and nothing is stored.'),
  fieldManager: query('string', 'Who makes the change, for the record of managed fields.'),
  fieldValidation: query('string', 'What to do about unknown and duplicate fields: Ignore, Warn or Strict.'),
  force: query('boolean', 'Takes over fields that others manage. Only for apply patches.'),
  gracePeriodSeconds: query('integer', 'Seconds before the object is deleted; 0 deletes at once.'),
  ignoreStoreReadErrorWithClusterBreakingPotential: query('boolean', 'Deletes an object that can no longer be read from storage. Dangerous.'),
  orphanDependents: query('boolean', 'Deprecated: use propagationPolicy. Whether dependents lose their owner instead of being deleted.'),
  propagationPolicy: query('string', 'What becomes of dependents: Orphan, Background or Foreground.'),
} satisfies Record<string, Parameter>

export type ParameterName = keyof typeof parameters

const shapes = new Map<string, Readonly<Record<string, unknown>>>()

/** The parameter in the shape of OpenAPI v2 or v3: always the same object. */
export function parameter(name: ParameterName, flavour: 'v2' | 'v3'): Readonly<Record<string, unknown>> {
  const key = `${flavour} ${name}`
  let shape = shapes.get(key)
  if (!shape) shapes.set(key, (shape = shapeOf(parameters[name], name, flavour)))
  return shape
}

function shapeOf({ in: where, type, description }: Parameter, name: string, flavour: 'v2' | 'v3'): Readonly<Record<string, unknown>> {
  const schema = { type, uniqueItems: true }
  return { name, in: where, description, ...(where === 'path' && { required: true }), ...(flavour === 'v2' ? schema : { schema }) }
}
