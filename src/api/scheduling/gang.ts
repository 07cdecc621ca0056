/** Workloads and PodGroups: gang scheduling, all pods of a group or none. Alpha. */
import type { V1alpha2PodGroup, V1alpha2Workload } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { duplicate, required } from '../../machinery/validation/field-error.ts'
import { all, duplicateFinder, immutable, requiredRule } from '../../machinery/validation/field-rules.ts'
import { dnsLabel } from '../../machinery/validation/names.ts'
import { resource } from '../resource.ts'

const alpha = { group: 'scheduling.k8s.io', version: 'v1alpha2', scope: 'Namespaced', enabledByDefault: false } as const

export const podGroups = resource<Model<V1alpha2PodGroup>>({
  ...alpha,
  kind: 'PodGroup',
  plural: 'podgroups',
  model: 'V1alpha2PodGroup',
  subresources: { status: true },
  resetFields: { status: ['metadata', 'spec'] },
  validate: {
    object: ({ spec }) => (spec?.schedulingPolicy ? [] : [required('spec.schedulingPolicy')]),
    update: ({ spec }, { spec: old }) => immutable(spec, 'spec', old),
  },
})

export const workloads = resource<Model<V1alpha2Workload>>({
  ...alpha,
  kind: 'Workload',
  plural: 'workloads',
  model: 'V1alpha2Workload',
  validate: {
    object: ({ spec }) => {
      const templates = spec?.podGroupTemplates ?? []
      const names = templates.map(({ name }) => name)
      const isRepeated = duplicateFinder<string>()
      return all(
        templates.length ? [] : [required('spec.podGroupTemplates', 'must have at least one item')],
        names.flatMap((name, at) => requiredRule(name, `spec.podGroupTemplates[${at}].name`, dnsLabel)),
        names.flatMap((name, at) => (isRepeated(name) ? [duplicate(`spec.podGroupTemplates[${at}]`, name)] : [])),
      )
    },
    update: ({ spec }, { spec: old }) =>
      immutable(spec?.podGroupTemplates, 'spec.podGroupTemplates', old?.podGroupTemplates),
  },
})
