/** Deployments: declarative updates for ReplicaSets and their pods. */

import type { V1Deployment } from '@kubernetes/client-node'
import { semanticallyEqual } from '../../machinery/equality.ts'
import type { Model } from '../../machinery/object.ts'
import { type FieldError, forbiddenField, invalidValue, notSupported } from '../../machinery/validation/field-error.ts'
import { all, immutable, nonNegative, valid } from '../../machinery/validation/field-rules.ts'
import { labelSelector, number, pointer, struct, text } from '../../machinery/validation/internal-type.ts'
import { podTemplateDefaults } from '../core/pod/index.ts'
import { nullMissingTimes } from '../nulls.ts'
import { age, column, name, resource } from '../resource.ts'
import {
  selectorAndTemplate,
  validateAtMost,
  validateCollisionCount,
  validateCounts,
} from '../workload/template-rules.ts'
import { namedTemplateWarnings } from '../workload/template-warnings.ts'
import { containersColumn, imagesColumn, selectorColumn } from './columns.ts'
import { deploymentRollingUpdate } from './rolling-update.ts'

type Deployment = Model<V1Deployment>
type DeploymentSpec = NonNullable<Deployment['spec']>

function deploymentDefaults(deployment: Deployment): void {
  const { spec, status } = deployment
  if (spec) {
    spec.replicas ??= 1
    spec.revisionHistoryLimit ??= 10
    spec.progressDeadlineSeconds ??= 600
    spec.strategy ??= {}
    const { strategy } = spec
    strategy.type ||= 'RollingUpdate'
    if (strategy.type === 'RollingUpdate') {
      strategy.rollingUpdate ??= {}
      strategy.rollingUpdate.maxUnavailable ??= '25%'
      strategy.rollingUpdate.maxSurge ??= '25%'
    }
    podTemplateDefaults(spec.template)
  }
  deployment.status ??= {}
  if (status?.conditions) nullMissingTimes(status.conditions, 'lastUpdateTime', 'lastTransitionTime')
}

const shownStrategy = struct({ Type: text, RollingUpdate: pointer({ MaxUnavailable: number, MaxSurge: number }) })

function strategy({ strategy = {} }: DeploymentSpec): readonly FieldError[] {
  const path = 'spec.strategy'
  const { type, rollingUpdate } = strategy
  if (type === 'Recreate')
    return rollingUpdate
      ? [forbiddenField(`${path}.rollingUpdate`, "may not be specified when strategy `type` is 'Recreate'")]
      : valid
  if (type === 'RollingUpdate')
    return rollingUpdate ? deploymentRollingUpdate(rollingUpdate, `${path}.rollingUpdate`) : valid
  return [notSupported(path, shownStrategy(strategy), ['Recreate', 'RollingUpdate'])]
}

function rules({ spec }: Deployment): readonly FieldError[] {
  if (!spec) return valid
  const { progressDeadlineSeconds: deadline, minReadySeconds = 0 } = spec
  return all(
    nonNegative(spec.replicas, 'spec.replicas'),
    selectorAndTemplate(spec, 'deployment', 'ReplicaSet'),
    strategy(spec),
    nonNegative(spec.minReadySeconds, 'spec.minReadySeconds'),
    nonNegative(spec.revisionHistoryLimit, 'spec.revisionHistoryLimit'),
    nonNegative(deadline, 'spec.progressDeadlineSeconds'),
    deadline !== undefined && deadline <= minReadySeconds
      ? [invalidValue('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds')]
      : valid,
  )
}

export const deployments = resource<Deployment>({
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  shortNames: ['deploy'],
  categories: ['all'],
  scope: 'Namespaced',
  subresources: {
    status: true,
    scale: { replicas: '.spec.replicas', observed: '.status.replicas', selector: '.spec.selector' },
  },
  // The controller copies annotations to ReplicaSets, so a change of them needs a reconcile too.
  generation: (deployment, old) =>
    !semanticallyEqual(deployment.spec, old.spec) ||
    !semanticallyEqual(deployment.metadata.annotations, old.metadata.annotations),
  defaults: [deploymentDefaults],
  resetFields: { status: ['metadata.labels', 'spec'] },
  prepare: {
    create: (deployment) => {
      deployment.status = {}
    },
  },
  validate: {
    object: rules,
    update: ({ spec }, { spec: old }) => immutable(spec?.selector, 'spec.selector', old?.selector, labelSelector),
    status: ({ status }, { status: old }) =>
      all(
        validateCounts(status, [
          'observedGeneration',
          'replicas',
          'updatedReplicas',
          'readyReplicas',
          'availableReplicas',
          'unavailableReplicas',
          'collisionCount',
        ]),
        validateAtMost(status, ['updatedReplicas', 'readyReplicas', 'availableReplicas'], 'replicas'),
        validateAtMost(status, ['availableReplicas'], 'readyReplicas', 'cannot be greater than readyReplicas'),
        validateCollisionCount(status, old),
      ),
  },
  warnings: namedTemplateWarnings,
  columns: [
    name,
    column('Ready', ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`, {
      description: 'Ready pods, of desired pods.',
    }),
    column('Up-to-date', ({ status }) => status?.updatedReplicas ?? 0, {
      description: 'Pods with the current template.',
    }),
    column('Available', ({ status }) => status?.availableReplicas ?? 0, {
      description: 'Pods that have been ready for minReadySeconds.',
    }),
    age,
    containersColumn,
    imagesColumn,
    selectorColumn,
  ],
})
