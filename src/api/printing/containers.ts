/** Table cells of workloads about the containers of the pod template. */
import type { V1PodTemplateSpec } from '@kubernetes/client-node'
import type { Wire } from '../../machinery/object.ts'

type Template = Wire<V1PodTemplateSpec> | undefined

/** Returns for example `nginx,log`. */
export const containerNames = (template: Template): string =>
  (template?.spec?.containers ?? []).map(({ name }) => name).join(',')

/** Returns for example `example.com/nginx:1.2,example.com/log:1.2`. */
export const containerImages = (template: Template): string =>
  (template?.spec?.containers ?? []).map(({ image }) => image ?? '').join(',')
