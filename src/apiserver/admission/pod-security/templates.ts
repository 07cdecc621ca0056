/** Where the kinds that make pods keep the template of these. */
import type { PodTemplate } from '../../../api/core/pod/model.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import type { ServedResource } from '../../registry/served-resource.ts'

export type TemplateOf = (object: KubeObject) => PodTemplate | undefined

interface Templated extends KubeObject {
  readonly template?: PodTemplate
  readonly spec?: { readonly template?: PodTemplate; readonly jobTemplate?: { readonly spec?: { readonly template?: PodTemplate } } }
}

const inSpec: TemplateOf = (object: Templated) => object.spec?.template
const inJobTemplate: TemplateOf = (object: Templated) => object.spec?.jobTemplate?.spec?.template
const atTop: TemplateOf = (object: Templated) => object.template

const places: Readonly<Record<string, TemplateOf>> = {
  'v1/replicationcontrollers': inSpec,
  'v1/podtemplates': atTop,
  'apps/v1/replicasets': inSpec,
  'apps/v1/deployments': inSpec,
  'apps/v1/statefulsets': inSpec,
  'apps/v1/daemonsets': inSpec,
  'batch/v1/jobs': inSpec,
  'batch/v1/cronjobs': inJobTemplate,
}

export const templatesIn = (find: (key: string) => ServedResource): ReadonlyMap<ServedResource, TemplateOf> =>
  new Map(Object.entries(places).map(([key, templateOf]) => [find(key), templateOf]))
