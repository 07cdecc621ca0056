/** Starts a container: image, environment, volumes, creation, start, postStart. */

import { containerConfig } from '../cri/container-config.ts'
import type { NodeResources } from '../cri/linux-resources.ts'
import type { DeviceInitShape, MountInitShape } from '../cri/mounts.ts'
import type { NamespaceOptions } from '../cri/namespaces.ts'
import type { CriRuntime, SandboxConfig } from '../cri/runtime.ts'
import type { ImageUser, SecuritySettings } from '../cri/security.ts'
import {
  type ConfigError,
  containerEnvironment,
  type EnvironmentSources,
} from '../environment/container-environment.ts'
import type { Container, Pod } from '../pod-types.ts'
import type { PodEvents } from './container-events.ts'
import { HookError, type LifecycleHooks } from './lifecycle-hooks.ts'

/** A container has not started. `reason` and message are those of its waiting state. */
export class StartError extends Error {
  readonly reason: string

  constructor(reason: string, message: string) {
    super(message)
    this.reason = reason
  }
}

/** An image that is present, and the user of its containers. */
export interface PresentImage {
  readonly id: string
  readonly user: ImageUser
}

export interface ContainerStarter {
  readonly runtime: Pick<CriRuntime, 'createContainer' | 'startContainer'>
  readonly hooks: Pick<LifecycleHooks, 'postStart'>
  /** Ends a running container within the grace period of its pod. */
  stop(pod: Pod, container: Container, id: string, message: string): Promise<void>
  readonly events: PodEvents
  readonly security: SecuritySettings
  readonly node: NodeResources
  /** A container is about to be created with the resources of its spec. */
  recordResources(pod: Pod, container: Container): void
  /** Makes an image present by its pull policy. Rejects with a StartError. */
  image(pod: Pod, container: Container, sandbox: SandboxConfig): Promise<PresentImage>
  /** Cancels the pulls of a pod that ends: they have no time limit. */
  cancelImages(pod: Pod): void
  environment(pod: Pod, container: Container, podIps: readonly string[]): EnvironmentSources
  /** The mounts of a container: volumes, `/etc/hosts`, and the termination message's file. */
  mounts(
    pod: Pod,
    container: Container,
    environment: ReadonlyMap<string, string>,
    restartCount: number,
  ): Promise<readonly MountInitShape[]>
  /** The volumes that a container uses as devices. */
  devices(pod: Pod, container: Container): readonly DeviceInitShape[]
  /** Links the log of a container that has started, without delaying it. */
  linkLog(pod: Pod, container: Container, id: string, logPath: string): void
  /** The groups that the pod's volumes add to those of its spec. */
  extraGroups(pod: Pod): readonly number[]
  /** Counts an attempt to start a container. */
  countStart(type: ContainerType): void
  /** Counts an attempt that has failed. */
  countFailure(type: ContainerType, reason: string): void
}

export type ContainerType = 'container' | 'init_container' | 'ephemeral_container'

export interface StartRequest {
  readonly pod: Pod
  readonly container: Container
  readonly sandboxId: string
  readonly sandbox: SandboxConfig
  readonly podIps: readonly string[]
  readonly restartCount: number
  readonly namespaces: NamespaceOptions
}

/** Resolves with the ID of the running container. Rejects with a StartError, after an event. */
export async function startContainer(starter: ContainerStarter, request: StartRequest): Promise<string> {
  const type = typeOf(request)
  starter.countStart(type)
  try {
    return await start(starter, request)
  } catch (error) {
    if (error instanceof StartError) starter.countFailure(type, error.reason)
    throw error
  }
}

function typeOf({ pod: { spec }, container: { name } }: StartRequest): ContainerType {
  if (spec?.initContainers?.some((one) => one.name === name)) return 'init_container'
  return spec?.ephemeralContainers?.some((one) => one.name === name) ? 'ephemeral_container' : 'container'
}

async function start(starter: ContainerStarter, request: StartRequest): Promise<string> {
  const { pod, container } = request
  const { runtime, events } = starter
  const image = await starter.image(pod, container, request.sandbox)
  const config = await configOf(starter, request, image)
  starter.recordResources(pod, container)
  const id = await attempt('CreateContainerError', starter, request, () =>
    runtime.createContainer(request.sandboxId, config, request.sandbox),
  )
  events.ofContainer(pod, container, 'Normal', 'Created', 'Container created')
  await attempt('RunContainerError', starter, request, () => runtime.startContainer(id))
  starter.linkLog(pod, container, id, `${request.sandbox.logDirectory}/${config.logPath}`)
  events.ofContainer(pod, container, 'Normal', 'Started', 'Container started')
  try {
    await starter.hooks.postStart(pod, container, id)
  } catch (error) {
    if (!(error instanceof HookError)) throw error
    await starter.stop(pod, container, id, 'FailedPostStartHook')
    throw new StartError('PostStartHookError', error.message)
  }
  return id
}

async function configOf(starter: ContainerStarter, request: StartRequest, image: PresentImage) {
  const { pod, container, restartCount, namespaces, podIps } = request
  const { security, node } = starter
  return attempt('CreateContainerConfigError', starter, request, async () => {
    checkRootless(pod, container, image.user)
    const environment = await containerEnvironment(pod, container, starter.environment(pod, container, podIps))
    return containerConfig(pod, container, {
      restartCount,
      imageId: image.id,
      imageUser: image.user,
      environment,
      mounts: await starter.mounts(pod, container, environment, restartCount),
      devices: starter.devices(pod, container),
      extraGroups: starter.extraGroups(pod),
      node,
      security,
      namespaces,
    })
  })
}

/** Throws an Error with upstream's message if a container that must not run as root would. */
function checkRootless(pod: Pod, container: Container, { uid, username }: ImageUser): void {
  const own = container.securityContext ?? {}
  const podSecurity = pod.spec?.securityContext ?? {}
  if ((own.runAsNonRoot ?? podSecurity.runAsNonRoot) !== true) return
  const { name, namespace, uid: podUid } = pod.metadata
  const place = `(pod: "${name}_${namespace}(${podUid})", container: ${container.name})`
  const runAsUser = own.runAsUser ?? podSecurity.runAsUser
  if (runAsUser === 0) throw new Error(`container's runAsUser breaks non-root policy ${place}`)
  if (runAsUser !== undefined) return
  if (username)
    throw new Error(
      `container has runAsNonRoot and image has non-numeric user (${username}), cannot verify user is non-root ` +
        place,
    )
  if (uid === undefined || uid === 0n) throw new Error(`container has runAsNonRoot and image will run as root ${place}`)
}

/** Runs a step; its failure is an event and a StartError with this reason. */
async function attempt<T>(
  reason: string,
  { events }: ContainerStarter,
  { pod, container }: StartRequest,
  step: () => Promise<T>,
): Promise<T> {
  try {
    return await step()
  } catch (error) {
    const message = messageOf(error as Error | ConfigError)
    events.ofContainer(pod, container, 'Warning', 'Failed', `Error: ${message}`)
    throw new StartError(reason, message)
  }
}

/** The description of a gRPC error, without the words of the library around it. */
const messageOf = ({ message }: Error): string => message.replace(/^rpc error: code = \S+ desc = /, '')
