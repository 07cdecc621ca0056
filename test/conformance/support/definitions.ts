/** Definitions of custom resources as in the conformance suite: each in a group of its own. */
import { CustomObjectsApi, type V1CustomResourceDefinition } from '@kubernetes/client-node'
import { waitFor } from '../../support/wait-for.ts'
import type { Clients } from './clients.ts'

export type Schema = Readonly<Record<string, unknown>>

export interface DefinitionOptions {
  readonly group: string
  readonly kind?: string
  /** Schemas by version. The first version is the stored one. */
  readonly versions?: Readonly<Record<string, Schema>>
  readonly more?: object
}

export const anything: Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

export function definitionOf({
  group,
  kind = 'Foo',
  versions = { v1: anything },
  more = {},
}: DefinitionOptions): V1CustomResourceDefinition {
  const plural = `${kind.toLowerCase()}s`
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, labels: { group } },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      versions: Object.entries(versions).map(([name, openAPIV3Schema], at) => ({
        name,
        served: true,
        storage: at === 0,
        schema: { openAPIV3Schema },
      })),
      ...more,
    },
  }
}

/** Creates a definition. Resolves when all its versions are served. */
export async function define(
  { config, cluster }: Clients,
  options: DefinitionOptions,
): Promise<V1CustomResourceDefinition> {
  const definition = definitionOf(options)
  // The client drops members of schemas that its model names differently (`default`, `x-kubernetes-…`).
  await cluster.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition)
  const { group, names, versions } = definition.spec
  const custom = config.makeApiClient(CustomObjectsApi)
  for (const { name: version } of versions)
    await waitFor(`${names.plural}.${version}.${group}`, () =>
      custom
        .listNamespacedCustomObject({ group, version, namespace: 'default', plural: names.plural })
        .then(() => true),
    )
  return definition
}
