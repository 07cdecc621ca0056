/** Path and query parameters of operations, for both OpenAPI versions. */

interface Parameter {
  /** The name in requests, if several parameters share it. */
  readonly name?: string
  readonly in: 'path' | 'query'
  readonly type: 'string' | 'integer' | 'boolean'
  readonly description: string
}

const query = (type: Parameter['type'], description: string, name?: string): Parameter => ({
  in: 'query',
  type,
  description,
  ...(name && { name }),
})
const path = (description: string, name?: string): Parameter => ({
  in: 'path',
  type: 'string',
  description,
  ...(name && { name }),
})

const parameters = {
  name: path('name of the object'),
  namespace: path('namespace of the object, such as for teams and projects'),
  pathBelow: path('path of the URL to use for the request', 'path'),
  pretty: query('string', 'If "true", the answer is indented.'),
  allowWatchBookmarks: query('boolean', 'Asks for watch events of type BOOKMARK.'),
  continue: query('string', 'Where the previous page of the list ended, as its metadata said.'),
  fieldSelector: query('string', 'Restricts the list to objects with these fields. Defaults to everything.'),
  labelSelector: query('string', 'Restricts the list to objects with these labels. Defaults to everything.'),
  limit: query('integer', 'The most objects that a page of the list may have.'),
  resourceVersion: query('string', 'The version that the answer may be based on. Defaults to unset.'),
  resourceVersionMatch: query('string', 'How resourceVersion is meant: Exact or NotOlderThan. Defaults to unset.'),
  sendInitialEvents: query('boolean', 'Makes a watch begin with the objects that are there, closed by a bookmark.'),
  shardSelector: query(
    'string',
    'Restricts the list to a shard of the objects. Only with the feature gate ShardedListAndWatch.',
  ),
  timeoutSeconds: query('integer', 'How long a list or watch may last.'),
  watch: query('boolean', 'Asks for a stream of changes instead of the list.'),
  dryRun: query('string', 'All: the request is carried out up to storing, and nothing is stored.'),
  fieldManager: query('string', 'Who makes the change, for the record of managed fields.'),
  patchManager: query(
    'string',
    'Who makes the change, for the record of managed fields. Required for apply patches.',
    'fieldManager',
  ),
  fieldValidation: query('string', 'What to do about unknown and duplicate fields: Ignore, Warn or Strict.'),
  force: query('boolean', 'Takes over fields that others manage. Only for apply patches.'),
  gracePeriodSeconds: query('integer', 'Seconds before the object is deleted; 0 deletes at once.'),
  ignoreStoreReadErrorWithClusterBreakingPotential: query(
    'boolean',
    'Deletes an object that can no longer be read from storage. Dangerous.',
  ),
  orphanDependents: query(
    'boolean',
    'Deprecated: use propagationPolicy. Whether dependents lose their owner instead of being deleted.',
  ),
  propagationPolicy: query('string', 'What becomes of dependents: Orphan, Background or Foreground.'),
  attachedContainer: query('string', 'The container to attach to. Defaults to the only one.', 'container'),
  attachedStderr: query('boolean', 'Streams standard error of the container. Defaults to true.', 'stderr'),
  attachedStdin: query('boolean', 'Streams standard input to the container. Defaults to false.', 'stdin'),
  attachedStdout: query('boolean', 'Streams standard output of the container. Defaults to true.', 'stdout'),
  attachedTty: query('boolean', 'The container has a terminal, which is passed through. Defaults to false.', 'tty'),
  command: query('string', 'The command to run, an argument each time. No shell interprets it.'),
  execContainer: query('string', 'The container to run the command in. Defaults to the only one.', 'container'),
  execStderr: query('boolean', 'Streams standard error of the command.', 'stderr'),
  execStdin: query('boolean', 'Streams standard input to the command. Defaults to false.', 'stdin'),
  execStdout: query('boolean', 'Streams standard output of the command.', 'stdout'),
  execTty: query('boolean', 'Gives the command a terminal. Defaults to false.', 'tty'),
  ports: query('integer', 'The ports to forward. Required over WebSocket.'),
  loggedContainer: query('string', 'The container whose log is read. Defaults to the only one.', 'container'),
  follow: query('boolean', 'Streams the log as it grows. Defaults to false.'),
  insecureSkipTLSVerifyBackend: query('boolean', "Does not verify the kubelet's certificate: the log may be forged."),
  limitBytes: query('integer', 'The most bytes of the log to read.'),
  previous: query('boolean', "Reads the log of the container's previous run. Defaults to false."),
  sinceSeconds: query('integer', 'Reads lines of the last so many seconds. Excludes sinceTime.'),
  stream: query('string', 'The stream to read: All, Stdout or Stderr. Defaults to All.'),
  tailLines: query('integer', 'Reads the last so many lines.'),
  timestamps: query('boolean', 'Begins each line with its time. Defaults to false.'),
  nodePath: query('string', "The path at the node's kubelet.", 'path'),
  podPath: query('string', 'The path at the pod.', 'path'),
  servicePath: query('string', 'The path at the service.', 'path'),
} satisfies Record<string, Parameter>

export type ParameterName = keyof typeof parameters

const shapes = new Map<string, Readonly<Record<string, unknown>>>()

/** The parameter for OpenAPI v2 or v3; returns the same object on each call. */
export function parameter(name: ParameterName, flavour: 'v2' | 'v3'): Readonly<Record<string, unknown>> {
  const key = `${flavour} ${name}`
  let shape = shapes.get(key)
  if (!shape) shapes.set(key, (shape = shapeOf(parameters[name], name, flavour)))
  return shape
}

function shapeOf(
  { name, in: where, type, description }: Parameter,
  key: string,
  flavour: 'v2' | 'v3',
): Readonly<Record<string, unknown>> {
  const schema = { type, uniqueItems: true }
  return {
    name: name ?? key,
    in: where,
    description,
    ...(where === 'path' && { required: true }),
    ...(flavour === 'v2' ? schema : { schema }),
  }
}

const sortKey = (key: ParameterName): string => {
  const one: Parameter = parameters[key]
  return `${one.name ?? key} ${one.in}`
}

/** Sorts parameters by name, as in documents. */
export const inNameOrder = (names: Iterable<ParameterName>): ParameterName[] =>
  [...names]
    .map((name) => ({ name, key: sortKey(name) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ name }) => name)
