/** Namespaces: scopes for names. Deletion removes their content first. */
import type { V1Namespace } from '@kubernetes/client-node'
import type { Model } from '../../../machinery/object.ts'
import { type FieldError, invalidValue } from '../../../machinery/validation/field-error.ts'
import { follows } from '../../../machinery/validation/field-rules.ts'
import { unknownFinalizer } from '../../../machinery/validation/metadata.ts'
import { dnsLabel, qualifiedName } from '../../../machinery/validation/names.ts'
import { nullMissingTimes } from '../../nulls.ts'
import { age, column, name, resource } from '../../resource.ts'

type Namespace = Model<V1Namespace>

const nameLabel = 'kubernetes.io/metadata.name'

/** Sets the label with the name. A generated name is not known yet. */
function labelWithName({ metadata }: Namespace): void {
  if (metadata.name) metadata.labels = { ...metadata.labels, [nameLabel]: metadata.name }
}

function prepareCreate(namespace: Namespace): void {
  labelWithName(namespace)
  namespace.status = { phase: 'Active' }
  const finalizers = namespace.spec?.finalizers ?? []
  namespace.spec = {
    ...namespace.spec,
    finalizers: finalizers.includes('kubernetes') ? finalizers : [...finalizers, 'kubernetes'],
  }
}

function prepareUpdate(namespace: Namespace, old: Namespace): void {
  labelWithName(namespace)
  // Only /finalize writes finalizers.
  namespace.spec = { ...namespace.spec, finalizers: old.spec?.finalizers }
}

/** `/finalize` writes everything but the status. */
function keepStatus(namespace: Namespace, old: Namespace): void {
  labelWithName(namespace)
  namespace.status = old.status
}

/** Validates the finalizers of the spec; `indexed` adds the index to the path. */
export function namespaceFinalizers({ spec }: Namespace, indexed = false): readonly FieldError[] {
  return (spec?.finalizers ?? []).flatMap((finalizer, i) => {
    const path = indexed ? `spec.finalizers[${i}]` : 'spec.finalizers'
    if (finalizer.includes('/')) return follows(finalizer, path, qualifiedName)
    return finalizer === 'kubernetes'
      ? []
      : [...follows(finalizer, path, qualifiedName), invalidValue(path, finalizer, unknownFinalizer)]
  })
}

export const namespaces = resource<Namespace>({
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  shortNames: ['ns'],
  scope: 'Cluster',
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  subresources: {
    status: true,
    special: [
      {
        name: 'finalize',
        kind: 'Namespace',
        verbs: ['update'],
        writes: { prepare: keepStatus, validate: (namespace) => namespaceFinalizers(namespace, true) },
      },
    ],
  },
  nameRule: dnsLabel,
  defaults: [
    (namespace) => {
      labelWithName(namespace)
      namespace.spec ??= {}
      const status = (namespace.status ??= {})
      status.phase ||= 'Active'
      if (status.conditions) nullMissingTimes(status.conditions, 'lastTransitionTime')
    },
  ],
  prepare: { create: prepareCreate, update: prepareUpdate, status: labelWithName },
  validate: {
    object: (namespace) => namespaceFinalizers(namespace),
    status: ({ metadata, status }) => {
      const phase = status?.phase
      if (metadata.deletionTimestamp)
        return phase === 'Terminating'
          ? []
          : [invalidValue('status.Phase', phase ?? '', "may only be 'Terminating' if `deletionTimestamp` is not empty")]
      return phase === 'Active'
        ? []
        : [invalidValue('status.Phase', phase ?? '', "may only be 'Active' if `deletionTimestamp` is empty")]
    },
  },
  selectableFields: { 'status.phase': ({ status }) => status?.phase, name: ({ metadata }) => metadata.name },
  columns: [
    name,
    column('Status', ({ status }) => status?.phase ?? '', {
      description: 'The phase of the namespace: Active or Terminating.',
    }),
    age,
  ],
  deletion: {
    hasFinalizers: ({ spec }) => (spec?.finalizers?.length ?? 0) > 0,
    begin: (namespace) => {
      namespace.status = { ...namespace.status, phase: 'Terminating' }
    },
  },
})
