/** Columns that workloads share. */
import type { V1LabelSelector, V1PodTemplateSpec } from '@kubernetes/client-node'
import type { KubeObject, Wire } from '../../machinery/object.ts'
import { labelSelectorText } from '../../machinery/selectors/label-selector.ts'
import { containerImages, containerNames } from '../printing/containers.ts'
import { type Column, wide } from '../resource.ts'

type Workload = KubeObject & { spec?: { template?: Wire<V1PodTemplateSpec>; selector?: Wire<V1LabelSelector> } }

export const containersColumn: Column<Workload> = wide('Containers', ({ spec }) => containerNames(spec?.template), {
  description: 'The names of its containers.',
})
export const imagesColumn: Column<Workload> = wide('Images', ({ spec }) => containerImages(spec?.template), {
  description: 'The images of its containers.',
})
export const selectorColumn: Column<Workload> = wide('Selector', ({ spec }) => labelSelectorText(spec?.selector), {
  description: 'The label selector of its pods.',
})
