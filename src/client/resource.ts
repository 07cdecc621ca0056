/** Which resource is meant, for who speaks to the API from outside: its group, version, plural and scope, and the paths that follow. */
import type { KubeObject } from '../machinery/object.ts'

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
export const resource = <T extends KubeObject>(apiVersion: string, kind: string, plural: string, namespaced = true): Resource<T> => {
  const [version = '', group = ''] = apiVersion.split('/').reverse()
  return { group, version, kind, plural, namespaced }
}

/** As objects of the kind say it: `apps/v1`. */
export const apiVersionOf = ({ group, version }: Resource): string => (group ? `${group}/${version}` : version)

/** Where the objects of a namespace are, or those of all where none is given. */
export function collectionPath(of: Resource, namespace = ''): string {
  const root = of.group ? `/apis/${of.group}/${of.version}` : `/api/${of.version}`
  return namespace && of.namespaced ? `${root}/namespaces/${encodeURIComponent(namespace)}/${of.plural}` : `${root}/${of.plural}`
}

export const objectPath = (of: Resource, namespace: string, name: string, subresource = ''): string =>
  `${collectionPath(of, namespace)}/${encodeURIComponent(name)}${subresource && `/${subresource}`}`
