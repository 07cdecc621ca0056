/** CustomResourceDefinitions as stored objects; `apiserver/crd/` serves their custom resources. */
import { resource } from '../resource.ts'
import type { Definition } from './definition.ts'
import { definitionRules, definitionStatusRules, definitionUpdateRules } from './definition-rules.ts'
import { formatWarnings } from './format-warnings.ts'

export type { Definition } from './definition.ts'

/** Retains a deleted definition until its objects are deleted. */
export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io'

export const customResourceDefinitions = resource<Definition>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  storageHashVersion: 'v1beta1',
  plural: 'customresourcedefinitions',
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  scope: 'Cluster',
  storagePath: 'apiextensions.k8s.io/customresourcedefinitions',
  subresources: { status: true },
  generation: 'spec',
  requiresVersionOnUpdate: true,
  defaults: [definitionDefaults],
  prepare: {
    create: (definition) => {
      const storage = definition.spec.versions?.find((version) => version.storage)
      // Go encodes the empty status as empty names and null.
      definition.status = {
        conditions: null,
        acceptedNames: { plural: '', kind: '' },
        storedVersions: storage ? [storage.name] : [],
      } as unknown as NonNullable<Definition['status']>
    },
    update: (definition) => {
      const status = definition.status
      const storage = definition.spec.versions?.find((version) => version.storage)?.name
      if (status && storage && !status.storedVersions?.includes(storage))
        definition.status = { ...status, storedVersions: [...(status.storedVersions ?? []), storage] }
    },
  },
  deletion: {
    finalizer: cleanupFinalizer,
    begin: (definition) => {
      definition.status = {
        ...definition.status!,
        conditions: [
          ...(definition.status?.conditions ?? []).filter(({ type }) => type !== 'Terminating'),
          {
            type: 'Terminating',
            status: 'True',
            reason: 'InstanceDeletionPending',
            message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
            lastTransitionTime: definition.metadata.deletionTimestamp,
          },
        ],
      }
    },
  },
  validate: { create: definitionRules, update: definitionUpdateRules, status: definitionStatusRules },
  warnings: formatWarnings,
})

function definitionDefaults({ spec }: Definition): void {
  if (!spec) return
  spec.names ??= { plural: '', kind: '' }
  const { names } = spec
  if (!names.singular && names.kind) names.singular = names.kind.toLowerCase()
  if (!names.listKind && names.kind) names.listKind = `${names.kind}List`
  spec.conversion ??= { strategy: 'None' }
  if (!spec.conversion.strategy) spec.conversion.strategy = 'None'
  const service = spec.conversion.webhook?.clientConfig?.service
  if (service) service.port ??= 443
}
