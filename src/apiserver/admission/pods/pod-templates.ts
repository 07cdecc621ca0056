/** The location of the pod template in each kind that creates pods. */
import type { PodTemplate } from '../../../api/core/pod/model.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import type { ServedResource } from '../../registry/served-resource.ts'

interface Templated extends KubeObject {
  readonly template?: PodTemplate
  readonly spec?: {
    readonly template?: PodTemplate
    readonly jobTemplate?: { readonly spec?: { readonly template?: PodTemplate } }
  }
}

export interface TemplatePlace {
  /** The path in error messages, for example `spec.template`. */
  readonly path: string
  of(object: KubeObject): PodTemplate | undefined
}

const inSpec: TemplatePlace = { path: 'spec.template', of: (object: Templated) => object.spec?.template }
const inJobTemplate: TemplatePlace = {
  path: 'spec.jobTemplate.spec.template',
  of: (object: Templated) => object.spec?.jobTemplate?.spec?.template,
}
const atTop: TemplatePlace = { path: 'template', of: (object: Templated) => object.template }

const places: Readonly<Record<string, TemplatePlace>> = {
  'v1/replicationcontrollers': inSpec,
  'v1/podtemplates': atTop,
  'apps/v1/replicasets': inSpec,
  'apps/v1/deployments': inSpec,
  'apps/v1/statefulsets': inSpec,
  'apps/v1/daemonsets': inSpec,
  'batch/v1/jobs': inSpec,
  'batch/v1/cronjobs': inJobTemplate,
}

export const templatePlaces = (find: (key: string) => ServedResource): ReadonlyMap<ServedResource, TemplatePlace> =>
  new Map(Object.entries(places).map(([key, place]) => [find(key), place]))
