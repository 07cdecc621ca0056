/**
 * Which resource is meant, for who speaks to the API from outside: its group, version, plural and scope, and the paths
 * that follow.
 */
import type { KubeObject } from '../machinery/object.ts'
import { pathSegment } from '../machinery/validation/names.ts'

/** A kind of objects. `T` is what they look like. */
export interface Resource<T extends KubeObject = KubeObject> {
  /** Empty for the core group. */
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly kind: string
  readonly namespaced: boolean
  /** Never set: it only ties the type of the objects to the resource. */
  readonly objects?: T
}

/** A kind: `resource<Boat>('example.com/v1', 'Boat', 'boats')`; in namespaces unless said. */
export const resource = <T extends KubeObject>(
  apiVersion: string,
  kind: string,
  plural: string,
  namespaced = true,
): Resource<T> => {
  const [version = '', group = ''] = apiVersion.split('/').reverse()
  return { group, version, kind, plural, namespaced }
}

/** As objects of the kind say it: `apps/v1`. */
export const apiVersionOf = ({ group, version }: Resource): string => (group ? `${group}/${version}` : version)

/**
 * Throws an Error for a name that is empty or would lead to another path: without its name, the path of an object is
 * that of all objects of its kind, and a deletion deletes them all. The messages are client-go's.
 */
export function requireName(name: string): void {
  // Callers without types pass what they have.
  if (typeof name !== 'string' || name === '') throw new Error('resource name may not be empty')
  requireSegment('resource name', name)
}

/** The field selector of one object. Throws an Error as `requireName`. */
export function nameSelector(name: string): string {
  requireName(name)
  return `metadata.name=${name.replace(/[\\,=]/g, '\\$&')}`
}

/**
 * Where the objects of a namespace are, or those of all where none is given. Throws an Error for parts that would lead
 * to another path.
 */
export function collectionPath(of: Resource, namespace = ''): string {
  const root = of.group ? `/apis/${of.group}/${of.version}` : `/api/${of.version}`
  if (of.plural === '') throw new Error('resource may not be empty')
  requireSegment('resource', of.plural)
  if (!namespace || !of.namespaced) return `${root}/${of.plural}`
  requireSegment('namespace', namespace)
  return `${root}/namespaces/${encodeURIComponent(namespace)}/${of.plural}`
}

/**
 * Where one object is, or something under it. Throws an Error for an empty name, and for parts that would lead to
 * another path.
 */
export function objectPath(of: Resource, namespace: string, name: string, subresource = ''): string {
  requireName(name)
  const path = `${collectionPath(of, namespace)}/${encodeURIComponent(name)}`
  if (subresource === '') return path
  requireSegment('subresource', subresource)
  return `${path}/${encodeURIComponent(subresource)}`
}

function requireSegment(part: string, text: string): void {
  const [fault] = pathSegment(text)
  if (fault) throw new Error(`invalid ${part} ${JSON.stringify(text)}: ${fault}`)
}
