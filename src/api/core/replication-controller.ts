/** ReplicationControllers: maintain a number of pods. The predecessor of ReplicaSets. */

import type { V1ReplicationController } from '@kubernetes/client-node'
import { own } from '../../lib/own.ts'
import type { Model } from '../../machinery/object.ts'
import { labelsText } from '../../machinery/selectors/label-selector.ts'
import { type FieldError, invalidValue, required } from '../../machinery/validation/field-error.ts'
import { all, nonNegative, valid } from '../../machinery/validation/field-rules.ts'
import { map } from '../../machinery/validation/internal-type.ts'
import { nullMissingTimes } from '../nulls.ts'
import { containerImages, containerNames } from '../printing/containers.ts'
import { age, name, resource, wide } from '../resource.ts'
import { replicaColumns, replicaStatus } from '../workload/replicas.ts'
import { validateLongRunningTemplate } from '../workload/template-rules.ts'
import { namedTemplateWarnings } from '../workload/template-warnings.ts'
import { podTemplateDefaults } from './pod/defaults/pod-defaults.ts'

type ReplicationController = Model<V1ReplicationController>

function controllerDefaults(controller: ReplicationController): void {
  controller.spec ??= {}
  const spec = controller.spec
  const labels = spec.template?.metadata?.labels
  // Selector and labels default to the labels of the template.
  if (labels && Object.keys(labels).length > 0) {
    if (!spec.selector || Object.keys(spec.selector).length === 0) spec.selector = { ...labels }
    const own = controller.metadata.labels
    if (!own || Object.keys(own).length === 0) controller.metadata.labels = { ...labels }
  }
  spec.replicas ??= 1
  podTemplateDefaults(spec.template)
  controller.status ??= { replicas: 0 }
  controller.status.replicas ??= 0
  if (controller.status.conditions) nullMissingTimes(controller.status.conditions, 'lastTransitionTime')
}

function rules({ spec = {} }: ReplicationController): readonly FieldError[] {
  const { selector = {}, template } = spec
  const keys = Object.keys(selector)
  const labels = template?.metadata?.labels ?? {}
  return all(
    nonNegative(spec.minReadySeconds, 'spec.minReadySeconds'),
    keys.length > 0 ? valid : [required('spec.selector')],
    nonNegative(spec.replicas, 'spec.replicas'),
    template && !keys.every((key) => own(labels, key) === selector[key])
      ? [
          invalidValue(
            'spec.template.metadata.labels',
            map(template.metadata?.labels),
            '`selector` does not match template `labels`',
          ),
        ]
      : valid,
    validateLongRunningTemplate(template, 'ReplicationController'),
  )
}

export const replicationControllers = resource<ReplicationController>({
  group: '',
  version: 'v1',
  kind: 'ReplicationController',
  plural: 'replicationcontrollers',
  shortNames: ['rc'],
  categories: ['all'],
  scope: 'Namespaced',
  storagePath: 'controllers',
  subresources: {
    status: true,
    scale: { replicas: '.spec.replicas', observed: '.status.replicas', selector: '.spec.selector' },
  },
  generation: 'spec',
  defaults: [controllerDefaults],
  prepare: {
    create: (controller) => {
      controller.status = { replicas: 0 }
    },
  },
  validate: {
    object: rules,
    status: replicaStatus,
  },
  warnings: namedTemplateWarnings,
  selectableFields: { 'status.replicas': ({ status }) => String(status?.replicas ?? 0) },
  columns: [
    name,
    ...replicaColumns,
    age,
    wide('Containers', ({ spec }) => containerNames(spec?.template), { description: 'The names of its containers.' }),
    wide('Images', ({ spec }) => containerImages(spec?.template), { description: 'The images of its containers.' }),
    wide('Selector', ({ spec }) => labelsText(spec?.selector), { description: 'The labels of its pods.' }),
  ],
  deletion: { defaultPropagation: 'orphan' },
})
