/** ReplicaSets: maintain a number of identical pods. */

import type { V1ReplicaSet } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import type { FieldError } from '../../machinery/validation/field-error.ts'
import { immutable, nonNegative, valid } from '../../machinery/validation/field-rules.ts'
import { labelSelector } from '../../machinery/validation/internal-type.ts'
import { podTemplateDefaults } from '../core/pod/index.ts'
import { nullMissingTimes } from '../nulls.ts'
import { age, name, resource } from '../resource.ts'
import { replicaColumns, replicaStatus } from '../workload/replicas.ts'
import { selectorAndTemplate } from '../workload/template-rules.ts'
import { namedTemplateWarnings } from '../workload/template-warnings.ts'
import { containersColumn, imagesColumn, selectorColumn } from './columns.ts'

type ReplicaSet = Model<V1ReplicaSet>

function replicaSetDefaults(set: ReplicaSet): void {
  if (set.spec) {
    set.spec.replicas ??= 1
    podTemplateDefaults(set.spec.template)
  }
  set.status ??= { replicas: 0 }
  set.status.replicas ??= 0
  if (set.status.conditions) nullMissingTimes(set.status.conditions, 'lastTransitionTime')
}

const rules = ({ spec }: ReplicaSet): readonly FieldError[] =>
  spec
    ? [
        ...nonNegative(spec.replicas, 'spec.replicas'),
        ...nonNegative(spec.minReadySeconds, 'spec.minReadySeconds'),
        ...selectorAndTemplate(spec, 'replicaset', 'ReplicaSet'),
      ]
    : valid

export const replicaSets = resource<ReplicaSet>({
  group: 'apps',
  version: 'v1',
  kind: 'ReplicaSet',
  plural: 'replicasets',
  shortNames: ['rs'],
  categories: ['all'],
  scope: 'Namespaced',
  subresources: {
    status: true,
    scale: { replicas: '.spec.replicas', observed: '.status.replicas', selector: '.spec.selector' },
  },
  generation: 'spec',
  defaults: [replicaSetDefaults],
  prepare: {
    create: (set) => {
      set.status = { replicas: 0 }
    },
  },
  validate: {
    object: rules,
    update: (set, old) => immutable(set.spec?.selector, 'spec.selector', old.spec?.selector, labelSelector),
    status: replicaStatus,
  },
  warnings: namedTemplateWarnings,
  selectableFields: { 'status.replicas': ({ status }) => String(status?.replicas ?? 0) },
  columns: [name, ...replicaColumns, age, containersColumn, imagesColumn, selectorColumn],
})
