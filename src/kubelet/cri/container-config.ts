/** The configuration of a container in its sandbox. */

import { expand } from '../environment/expand.ts'
import type { Container, Pod } from '../pod-types.ts'
import { containerAnnotations, containerLabels } from './labels.ts'
import { linuxResources, type NodeResources } from './linux-resources.ts'
import type { DeviceInitShape, MountInitShape } from './mounts.ts'
import { mappedMounts, type NamespaceOptions } from './namespaces.ts'
import type { ContainerConfig } from './runtime.ts'
import { containerSecurity, type ImageUser, type SecuritySettings } from './security.ts'

/** The inputs of a container beside its spec. */
export interface ContainerInputs {
  readonly restartCount: number
  /** The ID of the pulled image, and its user. */
  readonly imageId: string
  readonly imageUser: ImageUser
  readonly environment: ReadonlyMap<string, string>
  readonly mounts: readonly MountInitShape[]
  readonly devices: readonly DeviceInitShape[]
  /** Groups besides those of the spec, as of persistent volumes. */
  readonly extraGroups: readonly number[]
  readonly node: NodeResources
  readonly security: SecuritySettings
  readonly namespaces: NamespaceOptions
}

export function containerConfig(pod: Pod, container: Container, inputs: ContainerInputs): ContainerConfig {
  const { environment, restartCount } = inputs
  const expanded = (texts: readonly string[] = []): string[] => texts.map((text) => expand(text, environment))
  return {
    metadata: { name: container.name, attempt: restartCount },
    image: { image: inputs.imageId, userSpecifiedImage: container.image ?? '' },
    command: expanded(container.command),
    args: expanded(container.args),
    workingDir: container.workingDir ?? '',
    envs: [...environment].map(([key, value]) => ({ key, value: Buffer.from(value) })),
    mounts: [...mappedMounts(inputs.mounts, inputs.namespaces)],
    devices: [...inputs.devices],
    labels: containerLabels(pod, container),
    annotations: containerAnnotations(pod, container, restartCount),
    logPath: `${container.name}/${restartCount}.log`,
    stdin: container.stdin === true,
    stdinOnce: container.stdinOnce === true,
    tty: container.tty === true,
    linux: {
      resources: linuxResources(pod, container, inputs.node),
      securityContext: securityOf(pod, container, inputs),
    },
  }
}

function securityOf(pod: Pod, container: Container, inputs: ContainerInputs) {
  const { imageUser, namespaces, security, extraGroups } = inputs
  const context = containerSecurity(pod, container, imageUser, namespaces, security)
  const groups = [...(context.supplementalGroups ?? []), ...extraGroups.map(BigInt)]
  return { ...context, supplementalGroups: groups }
}
