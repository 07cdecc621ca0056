/** The parameters of a policy binding. */
import type { KubeObject } from '../../../machinery/object.ts'
import { labelSelectorOf } from '../../../machinery/selectors/label-selector.ts'
import type { Registry } from '../../registry/registry.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import type { StoredObject } from '../../registry/stored-object.ts'
import type { Binding, ParamRef, Policy } from './policy-source.ts'

/** Caches the parsed object of each revision. */
const parsed = new WeakMap<StoredObject, KubeObject>()

function parsedOnce(object: StoredObject): KubeObject {
  let value = parsed.get(object)
  if (!value) parsed.set(object, (value = object.parse()))
  return value
}

/**
 * Returns the parameter objects to evaluate with; undefined means no parameters. An empty list skips the policy. Throws
 * an Error if required parameters are missing.
 */
export async function collectParams(
  registry: Registry,
  { paramKind, params }: Policy<unknown>,
  { spec: { paramRef } }: Binding,
  namespace: string,
): Promise<readonly (KubeObject | undefined)[]> {
  if (!paramKind || !paramRef || !params) return [undefined]
  const found = await findParams(registry, params, paramRef, namespace)
  if (found.length === 0 && paramRef.parameterNotFoundAction === 'Deny')
    throw new Error('no params found for policy binding with `Deny` parameterNotFoundAction')
  return found
}

async function findParams(
  registry: Registry,
  params: ServedResource,
  { name, namespace, selector }: ParamRef,
  requested: string,
): Promise<KubeObject[]> {
  if (!params.namespaced && namespace)
    throw new Error('paramRef.namespace must not be provided for a cluster-scoped `paramKind`')
  const within = params.namespaced ? namespace || requested : ''
  if (params.namespaced && within === '')
    throw new Error('cannot use namespaced paramRef in policy binding that matches cluster-scoped resources')
  if (name) {
    const object = await registry.lookUp(params, params.key(within, name))
    return object ? [parsedOnce(object)] : []
  }
  const { matches } = labelSelectorOf(selector)
  const { objects } = await registry.cacher(params).ready()
  const selected = objects.slice(params.range(within)).filter((object) => matches(object.summary.labels))
  const view = registry.view(params)
  await view.prepare(() => selected)
  return selected.map(view.show).map(parsedOnce)
}
