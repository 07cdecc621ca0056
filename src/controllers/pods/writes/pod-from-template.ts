/** Creates pods from templates for their controllers. */
import type { Pod, PodTemplate } from '../../../client/kinds.ts'
import { controllerReference } from '../../../client/objects/owners.ts'
import type { KubeObject } from '../../../machinery/object.ts'

export type PodTemplateSpec = NonNullable<PodTemplate['template']>

/** Returns the pod of `owner` for a template; the server generates its name. */
export function podFromTemplate({ metadata, spec }: PodTemplateSpec, owner: KubeObject): Pod {
  const { labels, annotations, finalizers } = metadata ?? {}
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: `${owner.metadata.name}-`,
      namespace: owner.metadata.namespace,
      ...(labels && { labels: { ...labels } }),
      ...(annotations && { annotations: { ...annotations } }),
      ...(finalizers && { finalizers: [...finalizers] }),
      ownerReferences: [controllerReference(owner)],
    },
    ...(spec && { spec }),
  }
}
