/** PodTemplates: stored templates of pods. */
import type { V1PodTemplate } from '@kubernetes/client-node'
import { semanticallyEqual } from '../../../machinery/equality.ts'
import type { Model } from '../../../machinery/object.ts'
import { labelsText } from '../../../machinery/selectors/label-selector.ts'
import { containerImages, containerNames } from '../../printing/containers.ts'
import { column, name, resource } from '../../resource.ts'
import { podTemplate, podTemplateDefaults, templateWarnings } from './index.ts'

type PodTemplate = Model<V1PodTemplate>

export const podTemplates = resource<PodTemplate>({
  group: '',
  version: 'v1',
  kind: 'PodTemplate',
  plural: 'podtemplates',
  scope: 'Namespaced',
  generation: ({ template }, { template: old }) => !semanticallyEqual(template, old),
  defaults: [
    (template) => {
      template.template ??= {}
      podTemplateDefaults(template.template)
    },
  ],
  validate: { object: ({ template = {} }) => podTemplate(template, 'template') },
  warnings: ({ template }) => templateWarnings(template, 'template'),
  columns: [
    name,
    column('Containers', ({ template }) => containerNames(template), { description: 'The names of its containers.' }),
    column('Images', ({ template }) => containerImages(template), { description: 'The images of its containers.' }),
    column('Pod Labels', ({ template }) => labelsText(template?.metadata?.labels), {
      description: 'The labels of pods with this template.',
    }),
  ],
  deletion: { returnsObject: true },
})
