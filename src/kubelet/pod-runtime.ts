/** Puts the parts together that a pod's steps use: sandbox and container configs, files, environment, status. */
import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { configMaps, type Node, type Service, secrets } from '../client/kinds.ts'
import type { RestClient } from '../client/rest/rest-client.ts'
import type { CgroupValues } from '../node/cgroups/tree/cgroup-values.ts'
import type { PodAllocations } from './allocation/pod-allocations.ts'
import type { ResizeConditions } from './allocation/resize-conditions.ts'
import type { PodCgroups } from './cgroups/pod-cgroups.ts'
import type { BackOffLimits } from './containers/back-off.ts'
import type { PodEvents } from './containers/container-events.ts'
import { LifecycleHooks } from './containers/lifecycle-hooks.ts'
import type { ContainerStarter } from './containers/start-container.ts'
import { type ContainerStopper, stopContainer } from './containers/stop-container.ts'
import type { NodeResources } from './cri/linux-resources.ts'
import { type NamespaceOptions, namespacesOf } from './cri/namespaces.ts'
import type { CriRuntime, SandboxConfig } from './cri/runtime.ts'
import { sandboxConfig } from './cri/sandbox-config.ts'
import { fieldValue, resourceValue } from './environment/field-values.ts'
import { serviceVariables } from './environment/service-variables.ts'
import { type DnsSettings, dnsConfigOf } from './host/dns-config.ts'
import { DnsWarnings } from './host/dns-warnings.ts'
import { PodFolders } from './host/pod-folders.ts'
import type { ImageService } from './images/image-service.ts'
import type { LogLinks } from './logs/log-links.ts'
import { restartCountByLogs } from './logs/restart-count.ts'
import { TerminationMessages } from './logs/termination/termination-messages.ts'
import type { KubeletMetrics } from './metrics/kubelet-metrics.ts'
import { ReferencedObjects } from './objects/referenced-objects.ts'
import { type Container, isTerminal, type Pod, specOf } from './pod-types.ts'
import { isRestartingAll } from './pods/plan/restart-of-all.ts'
import { PodSync, type Waiting } from './pods/pod-sync.ts'
import { ipsOf, type RuntimePod, readRuntimePod } from './pods/runtime-pod.ts'
import { httpHookSender } from './probes/http-hook.ts'
import type { ProbeManager } from './probes/probe-manager.ts'
import { stopGraceSeconds } from './probes/stop-grace.ts'
import type { PodResizes } from './resize/pod-resizes.ts'
import { withForeignConditions } from './status/foreign-conditions.ts'
import { podStatus } from './status/pod-status.ts'
import type { StatusWriter } from './status/status-writer.ts'
import type { RuntimeHandlers } from './user-namespaces/runtime-handlers.ts'
import type { UserNamespaces } from './user-namespaces/user-namespaces.ts'
import { undefinedIfMissing } from './volumes/files/missing.ts'
import type { PodVolumes } from './volumes/pod-volumes.ts'
import type { PodSteps, Termination } from './workers/pod-worker.ts'

export interface PodRuntimeOptions {
  readonly volumes: PodVolumes
  /** The addresses of pods as last read from the runtime, by UID. */
  readonly addresses: Map<string, readonly string[]>
  readonly seccompDefault: boolean
  /** The delays of restarts (CrashLoopBackOff). */
  readonly restartLimits: BackOffLimits
  readonly log: (line: string) => void
  readonly runtime: CriRuntime
  readonly images: ImageService
  readonly client: RestClient
  readonly status: StatusWriter
  readonly events: PodEvents
  readonly probes: ProbeManager
  readonly logLinks: Pick<LogLinks, 'create'>
  readonly root: string
  readonly podLogs: string
  readonly node: { readonly name: string; readonly ips: readonly string[] }
  readonly nodeResources: NodeResources
  readonly runtimeName: string
  readonly cgroups: PodCgroups
  readonly allocations: PodAllocations
  readonly resizes: PodResizes
  readonly resizeConditions: ResizeConditions
  readonly dns: DnsSettings
  readonly metrics: Pick<KubeletMetrics, 'startedContainers' | 'startedContainersErrors'>
  /** Counts hooks that were answered with HTTP instead of HTTPS. */
  readonly countFallback: () => void
  /** Records a warning of the node. */
  readonly warnOfNode: (reason: string, message: string) => void
  readonly services: () => readonly Service[]
  readonly networkProblem: () => string | undefined
  readonly handlers: RuntimeHandlers
  readonly userNamespaces: Pick<UserNamespaces, 'allocate' | 'release'>
  /** The node as it is registered. */
  readonly nodeObject: () => Node | undefined
  readonly now: () => number
  /** Takes a state of a pod in the runtime that needs no step. */
  readonly settle: (pod: RuntimePod) => void
  /** Removes dead containers that newer ones have replaced. */
  readonly trim: (pod: RuntimePod) => void
}

export class PodRuntime {
  readonly steps: PodSteps
  readonly #options: PodRuntimeOptions
  readonly #folders: PodFolders
  readonly #objects: ReferencedObjects
  readonly #messages: TerminationMessages
  readonly #security
  readonly #dnsWarnings: DnsWarnings

  constructor(options: PodRuntimeOptions) {
    this.#options = options
    this.#folders = new PodFolders(options.root)
    this.#objects = new ReferencedObjects(options.client, options.now)
    this.#messages = new TerminationMessages([options.podLogs])
    this.#security = { seccompFolder: `${options.root}/seccomp`, seccompDefault: options.seccompDefault }
    const { runtime, events, probes, now } = options
    this.#dnsWarnings = new DnsWarnings({
      settings: options.dns,
      ofNode: options.warnOfNode,
      ofPod: (pod, reason, message) => events.ofPod(pod, 'Warning', reason, message),
    })
    const sendHttp = httpHookSender({ events, podIp: (pod) => this.#ipOf(pod), countFallback: options.countFallback })
    const hooks = new LifecycleHooks({ runtime, events, sendHttp })
    const stopper: ContainerStopper = {
      runtime,
      hooks,
      events,
      now,
      delay: (ms) => delay(ms, undefined, { ref: false }),
    }
    const steps = new PodSync({
      runtime,
      events,
      now,
      restartLimits: options.restartLimits,
      starter: this.#starter(hooks, stopper),
      stopper,
      read: (pod) => this.#read(pod),
      sandboxIps: (pod, id) => this.#sandboxIps(pod, id),
      settle: options.settle,
      namespaces: (pod) => this.#namespaces(pod),
      sandboxConfig: (...args) => this.#sandboxConfig(...args),
      runtimeHandler: (pod) => options.handlers.handlerOf(pod),
      prepare: async (pod) => {
        this.#createCgroup(pod)
        await this.#folders.create(pod)
        await options.volumes.mount(pod)
      },
      release: async ({ metadata: { uid = '' } }) => {
        options.addresses.delete(uid)
        this.#dnsWarnings.forget(uid)
        await options.volumes.unmount(uid)
        await options.cgroups.remove(uid)
        options.resizes.forget(uid)
        options.allocations.release(uid)
        options.userNamespaces.release(uid)
      },
      networkProblem: options.networkProblem,
      probes,
      report: (pod, ...facts) => this.#report(pod, ...facts),
      isRestartingAll: ({ metadata: { uid = '' } }) => isRestartingAll(options.status.statusOf(uid) ?? {}),
      firstRestartCount: restartCountByLogs,
      reportReleased: (pod) => options.status.release(pod),
      resizes: options.resizes,
    })
    this.steps = this.#withAllocations(steps)
  }

  /** Sets the status of a pod. Returns true if all its containers have ended. */
  #report(pod: Pod, runtimePod: RuntimePod, waiting: Waiting, termination?: Termination): boolean {
    const { runtimeName, node, status, resizes, resizeConditions, probes, now } = this.#options
    const { uid = '' } = pod.metadata
    resizes.observe(pod, runtimePod)
    const current = { ...pod, status: withForeignConditions(status.statusOf(uid), pod.status) }
    const next = podStatus(current, {
      runtimePod,
      waiting,
      probes,
      hostIps: node.ips,
      runtimeName,
      messageOf: (instance) => this.#messages.of(instance),
      actual: resizes.actual(pod),
      cgroup: this.#cgroupOf(pod),
      resizeConditions: resizeConditions.of(uid),
      now: now(),
      ...(termination && { termination }),
    })
    status.set(pod, next)
    return isTerminal(next.phase)
  }

  /** Pods run with the resources that the node has allocated, which may differ from those of their spec. */
  #withAllocations(steps: PodSteps): PodSteps {
    const allocated = (pod: Pod): Pod => this.#options.allocations.allocatedPod(pod)
    return {
      sync: (pod) => steps.sync(allocated(pod)),
      interrupt: (pod) => steps.interrupt(pod),
      terminate: (pod, termination, signal) => steps.terminate(allocated(pod), termination, signal),
      cleanUp: (pod, termination) => steps.cleanUp(pod, termination),
    }
  }

  #cgroupOf(pod: Pod): CgroupValues | undefined {
    const { cgroups } = this.#options
    return cgroups.has(pod) ? cgroups.read(pod) : undefined
  }

  async #read(pod: Pod): Promise<RuntimePod> {
    const runtimePod = await readRuntimePod(this.#options.runtime, identityOfPod(pod))
    const { identity, ips } = runtimePod
    if (ips.length > 0) this.#options.addresses.set(identity.uid, ips)
    await this.#messages.read(runtimePod.containers)
    this.#options.trim(runtimePod)
    return runtimePod
  }

  async #sandboxIps({ metadata: { uid = '' }, spec }: Pod, id: string): Promise<readonly string[]> {
    const { runtime, addresses } = this.#options
    if (spec?.hostNetwork) return []
    const ips = ipsOf((await runtime.sandboxStatus(id)).status)
    if (ips.length > 0) addresses.set(uid, ips)
    return ips
  }

  /** A pod that has users of its own must never run as users of the node instead. */
  async #namespaces(pod: Pod): Promise<NamespaceOptions> {
    const { handlers, userNamespaces } = this.#options
    if (specOf(pod).hostUsers !== false) return namespacesOf(pod)
    await handlers.checkUserNamespaces(pod)
    return namespacesOf(pod, userNamespaces.allocate(pod.metadata.uid ?? ''))
  }

  #ipOf(pod: Pod): string | undefined {
    return this.#addressesOf(pod)[0]
  }

  #addressesOf(pod: Pod): readonly string[] {
    const { node, addresses } = this.#options
    return specOf(pod).hostNetwork ? node.ips : (addresses.get(pod.metadata.uid ?? '') ?? [])
  }

  #starter(hooks: LifecycleHooks, stopper: ContainerStopper): ContainerStarter {
    const { runtime, images, events, nodeResources, resizes, metrics, logLinks } = this.#options
    return {
      runtime,
      hooks,
      stop(pod, container, id, message) {
        const graceSeconds = stopGraceSeconds(pod, { container })
        return stopContainer(stopper, { pod, id, name: container.name, graceSeconds, message })
      },
      events,
      security: this.#security,
      node: nodeResources,
      recordResources: (pod, container) => resizes.containerCreated(pod, container),
      image: (pod, container, sandbox) => images.ensure(pod, container, sandbox),
      cancelImages: (pod) => images.cancel(pod),
      environment: (pod, container, podIps) => this.#environment(pod, container, podIps),
      mounts: async (pod, container, environment, restartCount) => [
        ...(await this.#options.volumes.mountsOf(pod, container, environment)),
        ...(await this.#fileMounts(pod, container, restartCount)),
      ],
      devices: (pod, container) => this.#options.volumes.devicesOf(pod, container),
      extraGroups: (pod) => this.#options.volumes.extraGroups(pod),
      linkLog: (pod, { name }, id, logPath) => void logLinks.create({ pod: identityOfPod(pod), name, id, logPath }),
      countStart: (type) => metrics.startedContainers([type]).add(),
      countFailure: (type, reason) => metrics.startedContainersErrors([type, reason]).add(),
    }
  }

  /** Throws an Error, after an event, if the pod's cgroup cannot be made. */
  #createCgroup(pod: Pod): void {
    const { cgroups, events, resizes, allocations } = this.#options
    if (cgroups.has(pod)) return
    try {
      cgroups.updateClasses(allocations.allocatedPods())
      cgroups.create(pod)
      resizes.podCreated(pod)
    } catch (error) {
      const message = cgroups.describeFailure(pod, error as Error)
      events.ofPod(pod, 'Warning', 'FailedCreatePodContainer', message)
      throw new Error(message)
    }
  }

  /** Removes the files of pods of which nothing is retained. Failures are logged, as of volumes that are busy. */
  async removeLeftovers(isRetained: (uid: string) => boolean): Promise<void> {
    for (const uid of await this.#folders.uids())
      if (!isRetained(uid))
        // The pod's worker may remove them at the same time.
        await this.#removeFiles(uid)
          .catch(undefinedIfMissing)
          .catch((error: Error) => this.#options.log(`cannot remove the files of the pod ${uid}: ${error.message}`))
    // Volumes in memory count for the cgroup of their pod as long as they exist.
    const mounted = new Set(await this.#folders.uids())
    await this.#options.cgroups.removeOrphans((uid) => isRetained(uid) || mounted.has(uid))
  }

  async #removeFiles(uid: string): Promise<void> {
    await this.#options.volumes.unmount(uid)
    await this.#folders.remove(uid)
    this.#options.userNamespaces.release(uid)
  }

  #environment(pod: Pod, container: Container, podIps: readonly string[]) {
    const { services, node, nodeObject } = this.#options
    const own = services().filter(({ metadata }) => metadata.namespace === pod.metadata.namespace)
    const master = services().filter(
      ({ metadata }) => metadata.namespace === 'default' && metadata.name === 'kubernetes',
    )
    const ips = specOf(pod).hostNetwork ? node.ips : podIps
    return {
      services: serviceVariables(specOf(pod).enableServiceLinks === false ? master : [...master, ...own]),
      configMap: (namespace: string, name: string) => this.#objects.find(configMaps, namespace, name),
      secret: (namespace: string, name: string) => this.#objects.find(secrets, namespace, name),
      field: (path: string) => fieldValue(pod, path, { podIps: ips, hostIps: node.ips, nodeName: node.name }),
      resource: (selector: Parameters<typeof resourceValue>[2]) =>
        resourceValue(pod, container, selector, nodeObject()?.status?.allocatable ?? {}),
    }
  }

  /** `/etc/hosts`, unless a volume is mounted there, and the file of the termination message. */
  async #fileMounts(pod: Pod, container: Container, restartCount: number) {
    const hosts = await this.#folders.writeHosts(pod, {
      ips: this.#addressesOf(pod),
      clusterDomain: this.#options.dns.clusterDomain,
      nodeHosts: await readFile('/etc/hosts', 'utf8').catch(() => ''),
    })
    const message = await this.#folders.createMessageFile(pod, container, restartCount)
    return [
      ...(container.volumeMounts?.some(({ mountPath }) => mountPath === '/etc/hosts')
        ? []
        : [{ containerPath: '/etc/hosts', hostPath: hosts }]),
      { containerPath: container.terminationMessagePath || '/dev/termination-log', hostPath: message },
    ]
  }

  #sandboxConfig(pod: Pod, attempt: number, namespaces: NamespaceOptions): SandboxConfig {
    const { dns, podLogs, cgroups, nodeResources } = this.#options
    this.#dnsWarnings.check(pod, attempt)
    return sandboxConfig(pod, attempt, {
      security: this.#security,
      namespaces,
      logFolder: podLogs,
      node: nodeResources,
      cgroupParent: cgroups.pathOf(pod),
      clusterDomain: dns.clusterDomain,
      dns: dnsConfigOf(pod, dns),
    })
  }
}

const identityOfPod = ({ metadata: { uid = '', name = '', namespace = '' } }: Pod) => ({ uid, name, namespace })
