/** Identifies a resource of the API by group, version, plural and scope, and builds its paths. For clients. */
import type { KubeObject } from '../machinery/object.ts'
import { pathSegment } from '../machinery/validation/names.ts'

/** A kind of objects; `T` is the type of an object. */
export interface Resource<T extends KubeObject = KubeObject> {
  /** Empty for the core group. */
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly kind: string
  readonly namespaced: boolean
  /** Never set; it only carries the type of the objects. */
  readonly objects?: T
}

/**
 * Defines a resource. Default: namespaced.
 * @example const boats = resource<Boat>('example.com/v1', 'Boat', 'boats')
 */
export const resource = <T extends KubeObject>(
  apiVersion: string,
  kind: string,
  plural: string,
  namespaced = true,
): Resource<T> => {
  const [version = '', group = ''] = apiVersion.split('/').reverse()
  return { group, version, kind, plural, namespaced }
}

/**
 * Returns the `apiVersion` of a resource's objects.
 * @example apiVersionOf(deployments) // 'apps/v1'
 */
export const apiVersionOf = ({ group, version }: Resource): string => (group ? `${group}/${version}` : version)

/**
 * Throws an Error for a name that is empty or would change the path: without a name, the path of an object is that of
 * all objects of its kind, and a DELETE would delete them all. The messages are client-go's.
 */
export function requireName(name: string): void {
  // Callers without type checks may pass anything.
  if (typeof name !== 'string' || name === '') throw new Error('resource name may not be empty')
  requireSegment('resource name', name)
}

/**
 * Returns the field selector of one object. Throws an Error as `requireName`.
 * @example await client.list(pods, { fieldSelector: nameSelector('web') })
 */
export function nameSelector(name: string): string {
  requireName(name)
  return `metadata.name=${name.replace(/[\\,=]/g, '\\$&')}`
}

/**
 * The path of the objects in a namespace, or in all namespaces if `namespace` is empty. Throws an Error for parts that
 * would change the path.
 */
export function collectionPath(resource: Resource, namespace = ''): string {
  const root = resource.group ? `/apis/${resource.group}/${resource.version}` : `/api/${resource.version}`
  if (resource.plural === '') throw new Error('resource may not be empty')
  requireSegment('resource', resource.plural)
  if (!namespace || !resource.namespaced) return `${root}/${resource.plural}`
  requireSegment('namespace', namespace)
  return `${root}/namespaces/${encodeURIComponent(namespace)}/${resource.plural}`
}

/**
 * The path of an object or of its subresource. Throws an Error for an empty name, and for parts that would change the
 * path.
 */
export function objectPath(resource: Resource, namespace: string, name: string, subresource = ''): string {
  requireName(name)
  const path = `${collectionPath(resource, namespace)}/${encodeURIComponent(name)}`
  if (subresource === '') return path
  requireSegment('subresource', subresource)
  return `${path}/${encodeURIComponent(subresource)}`
}

function requireSegment(part: string, text: string): void {
  const [fault] = pathSegment(text)
  if (fault) throw new Error(`invalid ${part} ${JSON.stringify(text)}: ${fault}`)
}
