/** The operations of resources: which methods which paths have. */
import { allVerbs, type ResourceDefinition, type SpecialSubresource, type Verb } from '../../api/resource.ts'
import { definitionName, schemaOf } from '../../api/schema/index.ts'
import { metaPackage } from './json-schema.ts'
import { capital, groupName, groupTag, kindDefinition } from './names.ts'
import type { Method, Operation } from './operation.ts'
import type { ParameterName } from './parameters.ts'

/** Whether the resource has a schema of Kubernetes' own: the others know neither strategic merge patches nor `/watch/` paths. */
const isNative = (resource: ResourceDefinition): boolean => schemaOf(resource) !== undefined

const patchTypes = (native: boolean): string[] => [
  'application/apply-patch+yaml',
  'application/json-patch+json',
  'application/merge-patch+json',
  ...(native ? ['application/strategic-merge-patch+json'] : []),
]

const listParameters = [
  'allowWatchBookmarks',
  'continue',
  'fieldSelector',
  'labelSelector',
  'limit',
  'resourceVersion',
  'resourceVersionMatch',
  'sendInitialEvents',
  'timeoutSeconds',
  'watch',
] as const
const writeParameters = ['dryRun', 'fieldManager', 'fieldValidation'] as const
const deleteParameters = ['dryRun', 'gracePeriodSeconds', 'ignoreStoreReadErrorWithClusterBreakingPotential', 'orphanDependents', 'propagationPolicy'] as const

const connecting: Readonly<Record<string, readonly Method[]>> = {
  attach: ['get', 'post'],
  exec: ['get', 'post'],
  portforward: ['get', 'post'],
  proxy: ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'],
}

/** What each operation says of itself; the rest is the same for most of a resource. */
type Told = Partial<Operation> & Pick<Operation, 'path' | 'method' | 'id' | 'description' | 'action' | 'pathParameters'>

/** Paths and operations of one resource. */
export function operationsOf(resource: ResourceDefinition): Operation[] {
  const paths = new ResourcePaths(resource)
  const shared = { tag: groupTag(resource.group, resource.version), kind: paths.self, codes: [200], streams: false, parameters: [] }
  const told = [...paths.ofCollection(), ...paths.ofItem(), ...paths.ofSubresources(), ...paths.ofWatches()]
  return told.map((operation) => ({ ...shared, ...operation }))
}

const body = (definition: string, required = true) => ({ definition, types: ['*/*'], required })

/** The paths of one resource, and the words that names and texts of its operations are made of. */
class ResourcePaths {
  readonly #resource: ResourceDefinition
  readonly #verbs: ReadonlySet<Verb>
  readonly #isNative: boolean
  readonly #isNamespaced: boolean
  /** Names of operations are a verb, this and the subject. */
  readonly #prefix: string
  readonly #subject: string
  readonly #root: string
  readonly #collection: string
  readonly #item: string
  readonly #definition: string
  readonly #inCollection: readonly ParameterName[]
  readonly #inItem: readonly ParameterName[]
  readonly self: NonNullable<Operation['kind']>

  constructor(resource: ResourceDefinition) {
    const { group, version, kind, plural, scope } = resource
    this.#resource = resource
    this.#verbs = new Set(resource.verbs ?? allVerbs)
    this.#isNative = isNative(resource)
    this.#isNamespaced = scope === 'Namespaced'
    this.#prefix = groupName(group) + capital(version)
    this.#subject = (this.#isNamespaced ? 'Namespaced' : '') + kind
    this.#root = group ? `/apis/${group}/${version}` : `/api/${version}`
    this.#collection = `${this.#root}/${this.#isNamespaced ? 'namespaces/{namespace}/' : ''}${plural}`
    this.#item = `${this.#collection}/{name}`
    this.#definition = kindDefinition(resource)
    this.#inCollection = this.#isNamespaced ? ['namespace', 'pretty'] : ['pretty']
    this.#inItem = ['name', ...this.#inCollection]
    this.self = { group, version, kind }
  }

  *ofCollection(): Generator<Told> {
    const { kind, plural } = this.#resource
    const verbs = this.#verbs
    const at = { path: this.#collection, pathParameters: this.#inCollection }
    const listing = {
      method: 'get' as const,
      action: 'list',
      description: `list or watch objects of kind ${kind}`,
      parameters: listParameters,
      answer: `${this.#definition}List`,
      streams: verbs.has('watch'),
    }
    if (verbs.has('list')) yield { ...at, ...listing, id: `list${this.#prefix}${this.#subject}` }
    if (verbs.has('create'))
      yield {
        ...at,
        method: 'post',
        id: `create${this.#prefix}${this.#subject}`,
        action: 'post',
        description: `create a ${kind}`,
        parameters: writeParameters,
        body: body(this.#definition),
        answer: this.#definition,
        codes: [200, 201, 202],
      }
    if (verbs.has('deletecollection'))
      yield {
        ...at,
        method: 'delete',
        id: `delete${this.#prefix}Collection${this.#subject}`,
        action: 'deletecollection',
        description: `delete collection of ${kind}`,
        parameters: [...listParameters.filter((name) => name !== 'watch' && name !== 'allowWatchBookmarks'), ...deleteParameters],
        body: body(`${metaPackage}.DeleteOptions`, false),
        answer: `${metaPackage}.Status`,
      }
    if (this.#isNamespaced && verbs.has('list'))
      yield { ...listing, path: `${this.#root}/${plural}`, pathParameters: ['pretty'], id: `list${this.#prefix}${kind}ForAllNamespaces` }
  }

  *ofItem(): Generator<Told> {
    yield* this.#readAndWrite(this.#item, '', '', this.#verbs, { answer: this.#definition })
    if (this.#verbs.has('delete'))
      yield {
        path: this.#item,
        pathParameters: this.#inItem,
        method: 'delete',
        id: `delete${this.#prefix}${this.#subject}`,
        action: 'delete',
        description: `delete a ${this.#resource.kind}`,
        parameters: deleteParameters,
        body: body(`${metaPackage}.DeleteOptions`, false),
        answer: `${metaPackage}.Status`,
        codes: [200, 202],
      }
  }

  *ofSubresources(): Generator<Told> {
    const { status, scale, special = [] } = this.#resource.subresources ?? {}
    const readWrite = new Set(['get', 'update', 'patch'])
    if (status) yield* this.#readAndWrite(`${this.#item}/status`, 'Status', 'status of', readWrite, { answer: this.#definition })
    if (scale) {
      const kind = { group: 'autoscaling', version: 'v1', kind: 'Scale' }
      yield* this.#readAndWrite(`${this.#item}/scale`, 'Scale', 'scale of', readWrite, { kind, answer: definitionName('autoscaling', 'v1', 'Scale') })
    }
    for (const sub of special) yield* connecting[sub.name] ? this.#connects(sub, connecting[sub.name]!) : this.#special(sub)
  }

  /** `/watch/`, which upstream keeps for clients of long ago. */
  *ofWatches(): Generator<Told> {
    if (!this.#isNative || !this.#verbs.has('watch')) return
    const { kind, plural } = this.#resource
    const watch = { answer: `${metaPackage}.WatchEvent`, streams: true, method: 'get' as const, deprecated: true }
    const below = (path: string): string => path.replace(this.#root, `${this.#root}/watch`)
    yield {
      ...watch,
      path: below(this.#collection),
      pathParameters: [...this.#inCollection, ...listParameters],
      id: `watch${this.#prefix}${this.#subject}List`,
      action: 'watchlist',
      description: `watch individual changes to a list of ${kind}`,
    }
    yield {
      ...watch,
      path: below(this.#item),
      pathParameters: [...this.#inItem, ...listParameters],
      id: `watch${this.#prefix}${this.#subject}`,
      action: 'watch',
      description: `watch changes to an object of kind ${kind}`,
    }
    if (this.#isNamespaced)
      yield {
        ...watch,
        path: `${this.#root}/watch/${plural}`,
        pathParameters: ['pretty', ...listParameters],
        id: `watch${this.#prefix}${kind}ListForAllNamespaces`,
        action: 'watchlist',
        description: `watch individual changes to a list of ${kind}`,
      }
  }

  /** GET, PUT and PATCH of an object or a part of it, as far as they are `allowed`. */
  *#readAndWrite(
    path: string,
    suffix: string,
    what: string,
    allowed: ReadonlySet<string>,
    { kind, answer }: Pick<Operation, 'kind' | 'answer'>,
  ): Generator<Told> {
    const of = `${what} the specified ${this.#resource.kind}`
    const name = `${this.#prefix}${this.#subject}${suffix}`
    const at = { path, pathParameters: this.#inItem, answer, ...(kind && { kind }) }
    const writing = { parameters: writeParameters, codes: [200, 201] }
    if (allowed.has('get')) yield { ...at, method: 'get', id: `read${name}`, action: 'get', description: `read ${of}` }
    if (allowed.has('update'))
      yield { ...at, ...writing, method: 'put', id: `replace${name}`, action: 'put', description: `replace ${of}`, body: body(answer ?? '') }
    if (allowed.has('patch'))
      yield {
        ...at,
        ...writing,
        method: 'patch',
        id: `patch${name}`,
        action: 'patch',
        description: `partially update ${of}`,
        parameters: [...writeParameters, 'force'],
        body: { definition: `${metaPackage}.Patch`, types: patchTypes(this.#isNative), required: true },
      }
  }

  /** A subresource whose requests become connections. */
  *#connects(sub: SpecialSubresource, methods: readonly Method[]): Generator<Told> {
    const path = `${this.#item}/${sub.name}`
    const pathParameters = this.#inItem.filter((name) => name !== 'pretty')
    const connect = (method: Method, more: '' | 'WithPath'): Told => ({
      path: more ? `${path}/{path}` : path,
      pathParameters: more ? [...pathParameters, 'path'] : pathParameters,
      method,
      id: `connect${this.#prefix}${capital(method)}${this.#subject}${capital(sub.name)}${more}`,
      action: 'connect',
      kind: this.#kindOf(sub),
      description: `connect ${method.toUpperCase()} requests to ${sub.name} of ${this.#resource.kind}`,
    })
    for (const method of methods) yield connect(method, '')
    if (sub.name === 'proxy') for (const method of methods) yield connect(method, 'WithPath')
  }

  *#special(sub: SpecialSubresource): Generator<Told> {
    const path = `${this.#item}/${sub.name}`
    const kind = this.#kindOf(sub)
    const suffix = capital(sub.name)
    const answer = sub.name === 'log' ? undefined : (schemaOf(kind)?.definition ?? this.#definition)
    yield* this.#readAndWrite(path, suffix, `${sub.name} of`, new Set<string>(sub.verbs), { kind, answer })
    if (!sub.verbs.includes('create') || answer === undefined) return
    yield {
      path,
      pathParameters: this.#inItem,
      method: 'post',
      id: `create${this.#prefix}${this.#subject}${suffix}`,
      action: 'post',
      kind,
      description: `create ${sub.name} of a ${this.#resource.kind}`,
      parameters: writeParameters,
      body: body(answer),
      answer,
      codes: [200, 201, 202],
    }
  }

  #kindOf({ group = this.self.group, version = this.self.version, kind }: SpecialSubresource): NonNullable<Operation['kind']> {
    return { group, version, kind }
  }
}
