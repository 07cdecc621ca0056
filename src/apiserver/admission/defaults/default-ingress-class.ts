/** DefaultIngressClass: sets the default class on ingresses without one. */
import type { V1Ingress } from '@kubernetes/client-node'
import type { Model } from '../../../machinery/object.ts'
import type { AdmissionPlugin, PluginSources } from '../plugin.ts'
import { newestDefault } from './newest-default.ts'

const classAnnotation = 'kubernetes.io/ingress.class'

export function defaultIngressClass(sources: PluginSources): AdmissionPlugin {
  const ingresses = sources.find('networking.k8s.io/v1/ingresses')
  const classes = newestDefault(sources, 'networking.k8s.io/v1/ingressclasses', [
    'ingressclass.kubernetes.io/is-default-class',
  ])
  return {
    name: 'DefaultIngressClass',
    handles: ['CREATE'],
    mutate({ resource, subresource, object }) {
      if (resource.storage !== ingresses || subresource || classes.current === undefined) return
      const { metadata, spec } = object as Model<V1Ingress>
      if (!spec || spec.ingressClassName !== undefined || metadata.annotations?.[classAnnotation] !== undefined) return
      spec.ingressClassName = classes.current
    },
    start: () => classes.start(),
    stop: () => classes.stop(),
  }
}
