/** Types of a pod and its parts, as on the wire. */
import type {
  V1Affinity,
  V1Container,
  V1ContainerPort,
  V1EphemeralContainer,
  V1Pod,
  V1PodSpec,
  V1PodStatus,
  V1PodTemplateSpec,
  V1Probe,
  V1ResourceRequirements,
  V1Volume,
} from '@kubernetes/client-node'
import type { Model, Wire } from '../../../machinery/object.ts'

export type Pod = Model<V1Pod>
export type PodSpec = Wire<V1PodSpec>
export type PodStatus = Wire<V1PodStatus>
export type PodTemplate = Wire<V1PodTemplateSpec>
export type Container = Wire<V1Container>
export type EphemeralContainer = Wire<V1EphemeralContainer>
export type ContainerPort = Wire<V1ContainerPort>
export type Probe = Wire<V1Probe>
export type Resources = Wire<V1ResourceRequirements>
export type Volume = Wire<V1Volume>
export type Affinity = Wire<V1Affinity>

/** Returns true for sidecars: init containers that continue to run. */
export const isSidecar = (container: Container | undefined): boolean => container?.restartPolicy === 'Always'
