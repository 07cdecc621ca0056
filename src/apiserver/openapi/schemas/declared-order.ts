/**
 * Sorts required fields in the order of Go's struct, which OpenAPI publishes: that of protobuf field numbers, with few
 * exceptions.
 */
import { numberedFields } from '../../../api/schema/index.ts'
import type { StructType } from '../../../machinery/schema.ts'

/** Structs whose fields are declared in another order than their numbers, or have no numbers. */
const declared: Readonly<Record<string, readonly string[]>> = {
  APIResource: ['name', 'singularName', 'namespaced', 'kind', 'verbs'],
  ContainerExtendedResourceRequest: ['containerName', 'resourceName', 'requestName'],
  HTTPIngressPath: ['pathType', 'backend'],
  Info: ['major', 'minor', 'gitVersion', 'gitCommit', 'gitTreeState', 'buildDate', 'goVersion', 'compiler', 'platform'],
  OwnerReference: ['apiVersion', 'kind', 'name', 'uid'],
}

export function inDeclaredOrder({
  definition,
  goName,
  required,
}: Pick<StructType, 'definition' | 'goName' | 'required'>): string[] {
  const order = declared[goName] ?? numberedFields(definition)
  return [...required]
    .map((name) => ({ name, place: order.indexOf(name) }))
    .sort((a, b) => a.place - b.place || (a.name < b.name ? -1 : 1))
    .map(({ name }) => name)
}
