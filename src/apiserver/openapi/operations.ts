/** The operations of resources: which methods which paths have, in terms that OpenAPI v2 and v3 share. */

import { allVerbs, type ResourceDefinition, type SpecialSubresource, type Verb } from '../../api/resource.ts'
import { definitionName, schemaOf } from '../../api/schema/index.ts'
import { metaPackage } from './json-schema.ts'
import type { ParameterName } from './parameters.ts'

export type Method = 'get' | 'put' | 'post' | 'delete' | 'options' | 'head' | 'patch'

export interface Operation {
  readonly path: string
  readonly method: Method
  readonly id: string
  readonly tag: string
  readonly description: string
  readonly action: string
  readonly kind?: { readonly group: string; readonly version: string; readonly kind: string }
  readonly parameters: readonly ParameterName[]
  /** Parameters in the path, which all operations of a path share. */
  readonly pathParameters: readonly ParameterName[]
  /** The definition of the body, and the media types it may come in. */
  readonly body?: { readonly definition: string; readonly types: readonly string[]; readonly required: boolean }
  /** The definition of the answer; undefined means text. */
  readonly answer?: string
  readonly codes: readonly number[]
  /** Whether watch events may come back. */
  readonly streams: boolean
  readonly deprecated?: boolean
}

/** `rbac.authorization.k8s.io` → `RbacAuthorization`, `` → `Core`, `rp-access.example.com` → `RpAccessExampleCom`. */
export const groupName = (group: string): string =>
  (group || 'core')
    .replace(/\.k8s\.io$/, '')
    .split(/[.-]/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('')

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** The tag that groups operations: `rbacAuthorization_v1`, or `rbacAuthorization` without a version. */
export const groupTag = (group: string, version?: string): string => {
  const name = groupName(group)
  return name.charAt(0).toLowerCase() + name.slice(1) + (version ? `_${version}` : '')
}

/** The definition of a resource's kind: Kubernetes' own, or made of the reversed group for custom resources. */
export function kindDefinition({ group, version, kind, model }: Pick<ResourceDefinition, 'group' | 'version' | 'kind' | 'model'>): string {
  const own = schemaOf({ group, version, kind, model })
  return own ? own.definition : `${group.split('.').reverse().join('.')}.${version}.${kind}`
}

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

/** Paths and operations of one resource. */
export function operationsOf(resource: ResourceDefinition): Operation[] {
  const { group, version, kind, plural, scope, subresources = {} } = resource
  const native = isNative(resource)
  const namespaced = scope === 'Namespaced'
  const prefix = groupName(group) + capital(version)
  const subject = (namespaced ? 'Namespaced' : '') + kind
  const root = group ? `/apis/${group}/${version}` : `/api/${version}`
  const collection = `${root}/${namespaced ? 'namespaces/{namespace}/' : ''}${plural}`
  const item = `${collection}/{name}`
  const verbs = new Set<Verb>(resource.verbs ?? allVerbs)
  const definition = kindDefinition(resource)
  const list = `${definition}List`
  const tag = groupTag(group, version)
  const inCollection: ParameterName[] = namespaced ? ['namespace', 'pretty'] : ['pretty']
  const inItem: ParameterName[] = ['name', ...inCollection]
  const self = { group, version, kind }
  const result: Operation[] = []
  const shared = { tag, kind: self, codes: [200], streams: false, parameters: [] }
  const add = (operation: Partial<Operation> & Pick<Operation, 'path' | 'method' | 'id' | 'description' | 'action' | 'pathParameters'>): void => {
    result.push({ ...shared, ...operation })
  }
  const body = (of: string, required = true) => ({ definition: of, types: ['*/*'], required })
  const patchBody = { definition: `${metaPackage}.Patch`, types: patchTypes(native), required: true }

  const onCollection = { path: collection, pathParameters: inCollection }
  if (verbs.has('list'))
    add({
      ...onCollection,
      method: 'get',
      id: `list${prefix}${subject}`,
      action: 'list',
      description: `list or watch objects of kind ${kind}`,
      parameters: listParameters,
      answer: list,
      streams: verbs.has('watch'),
    })
  if (verbs.has('create'))
    add({
      ...onCollection,
      method: 'post',
      id: `create${prefix}${subject}`,
      action: 'post',
      description: `create a ${kind}`,
      parameters: writeParameters,
      body: body(definition),
      answer: definition,
      codes: [200, 201, 202],
    })
  if (verbs.has('deletecollection'))
    add({
      ...onCollection,
      method: 'delete',
      id: `delete${prefix}Collection${subject}`,
      action: 'deletecollection',
      description: `delete collection of ${kind}`,
      parameters: [...listParameters.filter((name) => name !== 'watch' && name !== 'allowWatchBookmarks'), ...deleteParameters],
      body: body(`${metaPackage}.DeleteOptions`, false),
      answer: `${metaPackage}.Status`,
    })
  if (namespaced && verbs.has('list'))
    add({
      path: `${root}/${plural}`,
      pathParameters: ['pretty'],
      method: 'get',
      id: `list${prefix}${kind}ForAllNamespaces`,
      action: 'list',
      description: `list or watch objects of kind ${kind}`,
      parameters: listParameters,
      answer: list,
      streams: verbs.has('watch'),
    })

  const writable = (path: string, suffix: string, of: string, what: string, more: Partial<Operation>, allowed: ReadonlySet<string>): void => {
    const at = { path, pathParameters: inItem, answer: of, ...more }
    if (allowed.has('get'))
      add({ ...at, method: 'get', id: `read${prefix}${subject}${suffix}`, action: 'get', description: `read ${what} the specified ${kind}` })
    if (allowed.has('update'))
      add({
        ...at,
        method: 'put',
        id: `replace${prefix}${subject}${suffix}`,
        action: 'put',
        description: `replace ${what} the specified ${kind}`,
        parameters: writeParameters,
        body: body(of),
        codes: [200, 201],
      })
    if (allowed.has('patch'))
      add({
        ...at,
        method: 'patch',
        id: `patch${prefix}${subject}${suffix}`,
        action: 'patch',
        description: `partially update ${what} the specified ${kind}`,
        parameters: [...writeParameters, 'force'],
        body: patchBody,
        codes: [200, 201],
      })
  }
  writable(item, '', definition, '', {}, verbs)
  if (verbs.has('delete'))
    add({
      path: item,
      pathParameters: inItem,
      method: 'delete',
      id: `delete${prefix}${subject}`,
      action: 'delete',
      description: `delete a ${kind}`,
      parameters: deleteParameters,
      body: body(`${metaPackage}.DeleteOptions`, false),
      answer: `${metaPackage}.Status`,
      codes: [200, 202],
    })

  const readWrite = new Set(['get', 'update', 'patch'])
  if (subresources.status) writable(`${item}/status`, 'Status', definition, 'status of', {}, readWrite)
  if (subresources.scale)
    writable(
      `${item}/scale`,
      'Scale',
      definitionName('autoscaling', 'v1', 'Scale'),
      'scale of',
      { kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' } },
      readWrite,
    )

  const special = (sub: SpecialSubresource): void => {
    const of = { group: sub.group ?? group, version: sub.version ?? version, kind: sub.kind }
    const suffix = capital(sub.name)
    const path = `${item}/${sub.name}`
    const methods = connecting[sub.name]
    if (methods) {
      const paths = sub.name === 'proxy' ? [path, `${path}/{path}`] : [path]
      for (const one of paths)
        for (const method of methods)
          add({
            path: one,
            pathParameters: one === path ? inItem.filter((name) => name !== 'pretty') : [...inItem.filter((name) => name !== 'pretty'), 'path'],
            method,
            id: `connect${prefix}${capital(method)}${subject}${suffix}${one === path ? '' : 'WithPath'}`,
            action: 'connect',
            kind: of,
            description: `connect ${method.toUpperCase()} requests to ${sub.name} of ${kind}`,
          })
      return
    }
    const schema = schemaOf(of)
    const answer = sub.name === 'log' ? undefined : (schema?.definition ?? definition)
    writable(path, suffix, answer ?? '', `${sub.name} of`, { kind: of, ...(answer === undefined && { answer: undefined }) }, new Set<string>(sub.verbs))
    if (sub.verbs.includes('create') && answer !== undefined)
      add({
        path,
        pathParameters: inItem,
        method: 'post',
        id: `create${prefix}${subject}${suffix}`,
        action: 'post',
        kind: of,
        description: `create ${sub.name} of a ${kind}`,
        parameters: writeParameters,
        body: body(answer),
        answer,
        codes: [200, 201, 202],
      })
  }
  for (const sub of subresources.special ?? []) special(sub)

  if (native && verbs.has('watch')) {
    const watch = { answer: `${metaPackage}.WatchEvent`, streams: true, method: 'get' as const, deprecated: true }
    const below = (path: string): string => path.replace(root, `${root}/watch`)
    add({
      ...watch,
      path: below(collection),
      pathParameters: [...inCollection, ...listParameters],
      id: `watch${prefix}${subject}List`,
      action: 'watchlist',
      description: `watch individual changes to a list of ${kind}`,
    })
    add({
      ...watch,
      path: below(item),
      pathParameters: [...inItem, ...listParameters],
      id: `watch${prefix}${subject}`,
      action: 'watch',
      description: `watch changes to an object of kind ${kind}`,
    })
    if (namespaced)
      add({
        ...watch,
        path: `${root}/watch/${plural}`,
        pathParameters: ['pretty', ...listParameters],
        id: `watch${prefix}${kind}ListForAllNamespaces`,
        action: 'watchlist',
        description: `watch individual changes to a list of ${kind}`,
      })
  }
  return result
}
