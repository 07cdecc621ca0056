/** The paths of resources and their operations. */
import { allVerbs, type ResourceDefinition, type SpecialSubresource, type Verb } from '../../../api/resource.ts'
import { definitionName, schemaOf } from '../../../api/schema/index.ts'
import { metaPackage } from '../schemas/json-schema.ts'
import { capital, groupName, groupTag, kindDefinition, listDefinition } from '../schemas/names.ts'
import { type Method, mediaTypes, type Operation } from './operation.ts'
import type { ParameterName } from './parameters.ts'

/**
 * True if the resource has a built-in schema: others have neither strategic merge patches nor `/watch/` paths.
 */
const isNative = (resource: ResourceDefinition): boolean => schemaOf(resource) !== undefined

const listParameters = [
  'allowWatchBookmarks',
  'continue',
  'fieldSelector',
  'labelSelector',
  'limit',
  'resourceVersion',
  'resourceVersionMatch',
  'sendInitialEvents',
  'shardSelector',
  'timeoutSeconds',
  'watch',
] as const
const deletedListParameters = listParameters.filter((name) => name !== 'watch' && name !== 'allowWatchBookmarks')
const writeParameters = ['dryRun', 'fieldManager', 'fieldValidation'] as const
const patchParameters = ['dryRun', 'patchManager', 'fieldValidation', 'force'] as const
const logParameters = [
  'loggedContainer',
  'follow',
  'insecureSkipTLSVerifyBackend',
  'limitBytes',
  'previous',
  'sinceSeconds',
  'stream',
  'tailLines',
  'timestamps',
] as const
const deleteParameters = [
  'dryRun',
  'gracePeriodSeconds',
  'ignoreStoreReadErrorWithClusterBreakingPotential',
  'orphanDependents',
  'propagationPolicy',
] as const

const proxied: readonly Method[] = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch']
const streamed: readonly Method[] = ['get', 'post']

/** Subresources for connections, by the kind of their options. */
const connecting: Readonly<
  Record<string, { readonly methods: readonly Method[]; readonly parameters: readonly ParameterName[] }>
> = {
  PodAttachOptions: {
    methods: streamed,
    parameters: ['attachedContainer', 'attachedStderr', 'attachedStdin', 'attachedStdout', 'attachedTty'],
  },
  PodExecOptions: {
    methods: streamed,
    parameters: ['command', 'execContainer', 'execStderr', 'execStdin', 'execStdout', 'execTty'],
  },
  PodPortForwardOptions: { methods: streamed, parameters: ['ports'] },
  NodeProxyOptions: { methods: proxied, parameters: ['nodePath'] },
  PodProxyOptions: { methods: proxied, parameters: ['podPath'] },
  ServiceProxyOptions: { methods: proxied, parameters: ['servicePath'] },
}

/** The fields that each operation sets; the others have defaults per resource. */
type OperationFields = Partial<Operation> &
  Pick<Operation, 'path' | 'method' | 'id' | 'description' | 'action' | 'parameters'>

/** The operations of one resource. */
export function operationsOf(resource: ResourceDefinition): Operation[] {
  const paths = new ResourcePaths(resource)
  const { anything, objects, customObjects } = mediaTypes
  const shared = {
    tag: groupTag(resource.group, resource.version),
    kind: paths.self,
    codes: [200],
    ...(isNative(resource)
      ? { consumes: anything, produces: objects }
      : { consumes: customObjects, produces: customObjects }),
  }
  const stated = [...paths.ofCollection(), ...paths.ofItem(), ...paths.ofSubresources(), ...paths.ofWatches()]
  return stated.map((operation) => ({ ...shared, ...operation }))
}

const body = (definition: string, required = true) => ({ definition, required })

/** The paths of one resource, and the parts of its operations' ids and descriptions. */
class ResourcePaths {
  readonly #resource: ResourceDefinition
  readonly #verbs: ReadonlySet<Verb>
  readonly #isNative: boolean
  readonly #isNamespaced: boolean
  /** An operation id is a verb, this and the subject. */
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

  *ofCollection(): Generator<OperationFields> {
    const { kind, plural } = this.#resource
    const verbs = this.#verbs
    const at = { path: this.#collection }
    const here = this.#inCollection
    const listing = {
      method: 'get' as const,
      action: 'list',
      description: `list or watch objects of kind ${kind}`,
      answer: listDefinition(this.#resource),
      ...(this.#isNative && { produces: mediaTypes.streams }),
    }
    if (verbs.has('list'))
      yield { ...at, ...listing, id: `list${this.#prefix}${this.#subject}`, parameters: [...here, ...listParameters] }
    if (verbs.has('create'))
      yield {
        ...at,
        method: 'post',
        id: `create${this.#prefix}${this.#subject}`,
        action: 'post',
        description: `create a ${kind}`,
        parameters: [...here, ...writeParameters],
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
        ...(this.#isNative
          ? {
              parameters: [...here, ...deletedListParameters, ...deleteParameters],
              body: body(`${metaPackage}.DeleteOptions`, false),
            }
          : { parameters: [...here, ...listParameters] }),
        answer: `${metaPackage}.Status`,
      }
    if (this.#isNamespaced && verbs.has('list'))
      yield {
        ...listing,
        path: `${this.#root}/${plural}`,
        id: `list${this.#prefix}${kind}ForAllNamespaces`,
        parameters: ['pretty', ...listParameters],
      }
  }

  *ofItem(): Generator<OperationFields> {
    yield* this.#readAndWrite(this.#item, '', '', this.#verbs, { answer: this.#definition })
    if (this.#verbs.has('delete'))
      yield {
        path: this.#item,
        method: 'delete',
        id: `delete${this.#prefix}${this.#subject}`,
        action: 'delete',
        description: `delete a ${this.#resource.kind}`,
        parameters: [...this.#inItem, ...deleteParameters],
        body: body(`${metaPackage}.DeleteOptions`, false),
        answer: this.#resource.deletion?.returnsObject ? this.#definition : `${metaPackage}.Status`,
        codes: [200, 202],
      }
  }

  *ofSubresources(): Generator<OperationFields> {
    const { status, scale, special = [] } = this.#resource.subresources ?? {}
    const readWrite = new Set(['get', 'update', 'patch'])
    if (status)
      yield* this.#readAndWrite(`${this.#item}/status`, 'Status', 'status of', readWrite, { answer: this.#definition })
    if (scale) {
      const kind = { group: 'autoscaling', version: 'v1', kind: 'Scale' }
      yield* this.#readAndWrite(`${this.#item}/scale`, 'Scale', 'scale of', readWrite, {
        kind: this.#isNative ? kind : this.self,
        answer: definitionName('autoscaling', 'v1', 'Scale'),
      })
    }
    for (const sub of special)
      yield* connecting[sub.kind] ? this.#connects(sub, connecting[sub.kind]!) : this.#special(sub)
  }

  /** The deprecated `/watch/` paths, which upstream still serves. */
  *ofWatches(): Generator<OperationFields> {
    if (!this.#isNative || !this.#verbs.has('watch')) return
    const { kind, plural } = this.#resource
    const watch = { answer: `${metaPackage}.WatchEvent`, produces: mediaTypes.streams, method: 'get' as const }
    const below = (path: string): string => path.replace(this.#root, `${this.#root}/watch`)
    yield {
      ...watch,
      path: below(this.#collection),
      parameters: [...this.#inCollection, ...listParameters],
      id: `watch${this.#prefix}${this.#subject}List`,
      action: 'watchlist',
      description: `watch individual changes to a list of ${kind}`,
    }
    yield {
      ...watch,
      path: below(this.#item),
      parameters: [...this.#inItem, ...listParameters],
      id: `watch${this.#prefix}${this.#subject}`,
      action: 'watch',
      description: `watch changes to an object of kind ${kind}`,
    }
    if (this.#isNamespaced)
      yield {
        ...watch,
        path: `${this.#root}/watch/${plural}`,
        parameters: ['pretty', ...listParameters],
        id: `watch${this.#prefix}${kind}ListForAllNamespaces`,
        action: 'watchlist',
        description: `watch individual changes to a list of ${kind}`,
      }
  }

  /** GET, PUT and PATCH of an object or a subresource, if `allowed`. */
  *#readAndWrite(
    path: string,
    suffix: string,
    what: string,
    allowed: ReadonlySet<string>,
    { kind, answer }: Pick<Operation, 'kind' | 'answer'>,
  ): Generator<OperationFields> {
    const of = `${what} the specified ${this.#resource.kind}`
    const name = `${this.#prefix}${this.#subject}${suffix}`
    const at = { path, answer, ...(kind && { kind }) }
    const inItem = this.#inItem
    if (allowed.has('get'))
      yield { ...at, method: 'get', id: `read${name}`, action: 'get', description: `read ${of}`, parameters: inItem }
    if (allowed.has('update'))
      yield {
        ...at,
        method: 'put',
        id: `replace${name}`,
        action: 'put',
        description: `replace ${of}`,
        parameters: [...inItem, ...writeParameters],
        body: body(answer ?? ''),
        codes: [200, 201],
      }
    if (allowed.has('patch'))
      yield {
        ...at,
        method: 'patch',
        id: `patch${name}`,
        action: 'patch',
        description: `partially update ${of}`,
        parameters: [...inItem, ...patchParameters],
        body: body(`${metaPackage}.Patch`),
        ...(this.#isNative
          ? { consumes: mediaTypes.patches, codes: [200, 201] }
          : { consumes: mediaTypes.customPatches }),
      }
  }

  /** A subresource for connections. */
  *#connects(
    sub: SpecialSubresource,
    { methods, parameters }: (typeof connecting)[string],
  ): Generator<OperationFields> {
    const path = `${this.#item}/${sub.name}`
    const all = [...this.#inItem.filter((name) => name !== 'pretty'), ...parameters]
    const connect = (method: Method, more: '' | 'WithPath'): OperationFields => ({
      path: more ? `${path}/{path}` : path,
      parameters: more ? [...all, 'pathBelow'] : all,
      produces: mediaTypes.anything,
      method,
      id: `connect${this.#prefix}${capital(method)}${this.#subject}${capital(sub.name)}${more}`,
      action: 'connect',
      kind: this.#kindOf(sub),
      description: `connect ${method.toUpperCase()} requests to ${sub.name} of ${this.#resource.kind}`,
    })
    for (const method of methods) yield connect(method, '')
    if (sub.name === 'proxy') for (const method of methods) yield connect(method, 'WithPath')
  }

  *#special(sub: SpecialSubresource): Generator<OperationFields> {
    const path = `${this.#item}/${sub.name}`
    const kind = this.#kindOf(sub)
    const suffix = capital(sub.name)
    if (sub.name === 'log') {
      const parameters = [...this.#inItem, ...logParameters]
      const id = `read${this.#prefix}${this.#subject}${suffix}`
      yield {
        path,
        method: 'get',
        id,
        action: 'get',
        kind,
        description: `read log of the specified ${this.#resource.kind}`,
        parameters,
        produces: mediaTypes.log,
      }
      return
    }
    const answer = schemaOf(kind)?.definition ?? this.#definition
    yield* this.#readAndWrite(path, suffix, `${sub.name} of`, new Set<string>(sub.verbs), { kind, answer })
    if (!sub.verbs.includes('create')) return
    yield {
      path,
      method: 'post',
      id: `create${this.#prefix}${this.#subject}${suffix}`,
      action: 'post',
      kind,
      description: `create ${sub.name} of a ${this.#resource.kind}`,
      parameters: [...this.#inItem, ...writeParameters],
      body: body(answer),
      answer,
      codes: [200, 201, 202],
    }
  }

  #kindOf({
    group = this.self.group,
    version = this.self.version,
    kind,
  }: SpecialSubresource): NonNullable<Operation['kind']> {
    return { group, version, kind }
  }
}
