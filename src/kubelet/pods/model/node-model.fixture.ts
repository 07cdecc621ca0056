/** A kubelet's pod workers before a fake runtime and a fake API, in virtual time. It may restart. */
import { restartBackOff } from '../../containers/back-off.ts'
import type { Container, Pod, PodSpec } from '../../pod-types.ts'
import { isTerminal } from '../../pod-types.ts'
import { podStatus } from '../../status/pod-status.ts'
import type { PodSteps } from '../../workers/pod-worker.ts'
import { PodWorkers } from '../../workers/pod-workers.ts'
import { isRestartingAll } from '../plan/restart-of-all.ts'
import { type PodParts, PodSync } from '../pod-sync.ts'
import type { RuntimePod } from '../runtime-pod.ts'
import { FakeRuntime, type Faults } from './fake-runtime.fixture.ts'
import { VirtualTime } from './virtual-time.fixture.ts'

/** How long a preStop hook of a pod runs, by its UID, in ms. */
type HookTimes = Map<string, number>

export class NodeModel {
  readonly time = new VirtualTime()
  readonly pods = new Map<string, Pod>()
  readonly runtime: FakeRuntime
  readonly hookMs: HookTimes = new Map()
  /** When a pod was deleted, in ms. */
  readonly deletedAt = new Map<string, number>()
  /** The earliest time at which its containers may be killed, in ms. */
  readonly #killableAt = new Map<string, number>()
  /** The pods of which nothing is left on the node, as the kubelet knows. */
  readonly #released = new Set<string>()
  /** When the end of a container began with its preStop hook, by its ID, in ms. */
  readonly #stoppingSince = new Map<string, number>()
  readonly #graceSeconds = new Map<string, number>()
  readonly #phases = new Map<string, string>()
  /** The states of pods in the runtime that need no step, by UID. */
  readonly #settled = new Map<string, string>()
  #workers!: PodWorkers
  #kubelet = 0

  constructor(faults: Faults) {
    // As the comparison with the runtime's lists does, some time after a change.
    const compare = (uid: string): void => {
      if (this.#settled.get(uid) !== textOf(this.runtime.stateOf(uid))) this.#workers.runtimeChanged(uid)
    }
    const wake = (uid: string): void => void this.time.schedule(() => compare(uid), Math.floor(faults.next() * 1_000))
    this.runtime = new FakeRuntime(this.time, faults, wake, (uid, id) => this.#mayKill(uid, id))
    this.#startKubelet()
  }

  get violations(): string[] {
    return this.runtime.violations
  }

  /** A pod that is not deleted may lose its containers too, as when its sandbox is lost: within its own time. */
  #mayKill(uid: string, id: string): boolean {
    const now = this.time.now()
    // They have no time to end.
    if (isRestartingAll(this.pods.get(uid)?.status ?? {})) return true
    if (now >= (this.#killableAt.get(uid) ?? Number.POSITIVE_INFINITY)) return true
    const stopping = this.#stoppingSince.get(id)
    const ownMs = (this.#graceSeconds.get(uid) ?? 0) * 1000
    // Seconds are rounded.
    return stopping !== undefined && now >= stopping + ownMs - 1_000
  }

  add(name: string, spec: PodSpec): void {
    const uid = name
    const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default', uid }, spec }
    this.pods.set(uid, pod)
    this.#graceSeconds.set(uid, spec.terminationGracePeriodSeconds ?? 30)
    this.#workers.update(pod)
  }

  delete(uid: string, graceSeconds: number): void {
    const pod = this.pods.get(uid)
    if (!pod) return
    const { deletionGracePeriodSeconds } = pod.metadata
    if (deletionGracePeriodSeconds !== undefined && deletionGracePeriodSeconds <= graceSeconds) return
    this.#mayEnd(uid, graceSeconds)
    const metadata = {
      ...pod.metadata,
      deletionTimestamp: pod.metadata.deletionTimestamp ?? new Date(this.time.now()).toISOString(),
      deletionGracePeriodSeconds: graceSeconds,
    }
    this.pods.set(uid, { ...pod, metadata })
    this.#workers.update(this.pods.get(uid)!)
    this.#removeReleased(uid)
  }

  /** As the writer of statuses does. */
  #removeReleased(uid: string): void {
    const pod = this.pods.get(uid)
    if (!pod?.metadata.deletionTimestamp || !this.#released.has(uid)) return
    this.pods.delete(uid)
    this.#workers.remove(pod)
  }

  /** The pod is gone from the API, whatever it runs. */
  forceDelete(uid: string): void {
    const pod = this.pods.get(uid)
    if (!pod) return
    this.#mayEnd(uid, 0)
    this.pods.delete(uid)
    this.#workers.remove(pod)
  }

  #mayEnd(uid: string, graceSeconds: number): void {
    if (!this.deletedAt.has(uid)) this.deletedAt.set(uid, this.time.now())
    const at = this.time.now() + graceSeconds * 1000
    this.#killableAt.set(uid, Math.min(at, this.#killableAt.get(uid) ?? Number.POSITIVE_INFINITY))
  }

  /** The kubelet ends as a killed process does, and another one starts. */
  restart(): void {
    void this.#workers.stop()
    this.#released.clear()
    this.#settled.clear()
    this.#startKubelet()
  }

  #startKubelet(): void {
    const steps = this.#oneAtATime(new PodSync(this.#parts(++this.#kubelet)))
    const { schedule } = this.time
    this.#workers = new PodWorkers({ steps, log: () => {}, schedule })
    for (const pod of this.pods.values()) this.#workers.update(pod)
    const found = new Set([...this.runtime.sandboxes.values()].map(({ uid }) => uid))
    for (const uid of found) this.#workers.endOrphan({ uid, name: uid, namespace: 'default' })
  }

  /** Checks that a pod has one writer. */
  #oneAtATime(steps: PodSteps): PodSteps {
    const busy = new Set<string>()
    const guarded = async <T>(pod: Pod, step: () => Promise<T>): Promise<T> => {
      const uid = pod.metadata.uid ?? ''
      if (busy.has(uid)) this.violations.push(`two steps of ${uid} at a time`)
      busy.add(uid)
      try {
        return await step()
      } finally {
        busy.delete(uid)
      }
    }
    return {
      sync: (pod) => guarded(pod, () => steps.sync(pod)),
      interrupt: (pod) => steps.interrupt(pod),
      terminate: (pod, ...more) => guarded(pod, () => steps.terminate(pod, ...more)),
      cleanUp: (pod, ...more) => guarded(pod, () => steps.cleanUp(pod, ...more)),
    }
  }

  /** Calls of a kubelet that has ended have no effect, and no answer. */
  #parts(kubelet: number): PodParts {
    const alive = async <T>(call: () => Promise<T>): Promise<T> => {
      const never = new Promise<T>(() => {})
      if (kubelet !== this.#kubelet) return never
      try {
        const result = await call()
        return kubelet === this.#kubelet ? result : never
      } catch (error) {
        if (kubelet !== this.#kubelet) return never
        throw error
      }
    }
    const { runtime, time } = this
    const containers = {
      createContainer: (...args: Parameters<FakeRuntime['createContainer']>) =>
        alive(() => {
          this.#checkStart(runtime.sandboxes.get(args[0])?.uid ?? '')
          return runtime.createContainer(...args)
        }),
      startContainer: (id: string) => alive(() => runtime.startContainer(id)),
      stopContainer: (id: string, seconds: number) => alive(() => runtime.stopContainer(id, seconds)),
    }
    const events = { ofPod: () => {}, ofContainer: () => {} } as unknown as PodParts['events']
    const preStop = (pod: Pod, _container: Container, id: string, graceSeconds: number): Promise<void> =>
      alive(() => {
        if (!this.#stoppingSince.has(id)) this.#stoppingSince.set(id, time.now())
        return time.sleep(Math.min(this.hookMs.get(uidOf(pod)) ?? 0, graceSeconds * 1000))
      })
    return {
      restartLimits: restartBackOff(),
      runtime: {
        runSandbox: (config) => alive(() => runtime.runSandbox(config.metadata?.uid ?? '', config)),
        stopSandbox: (id) => alive(() => runtime.stopSandbox(id)),
        removeContainer: (id) => alive(() => runtime.removeContainer(id)),
      },
      starter: starterOf(containers, events),
      stopper: { runtime: containers, hooks: { preStop }, events, now: time.now, delay: (ms) => time.sleep(ms) },
      events,
      now: time.now,
      read: (pod) => this.#read(pod, alive),
      sandboxIps: async (pod) => (await this.#read(pod, alive)).ips,
      settle: (runtimePod) => void this.#settled.set(runtimePod.identity.uid, textOf(runtimePod)),
      sandboxConfig: ({ metadata: { name = '', namespace = '', uid = '' } }, attempt) => ({
        metadata: { name, namespace, uid, attempt },
      }),
      prepare: () => alive(async () => {}),
      release: (pod) => alive(async () => this.#checkQuiet(uidOf(pod))),
      namespaces: async () => ({}),
      runtimeHandler: async () => '',
      networkProblem: () => undefined,
      probes: { ...probes, add() {}, observe() {}, remove() {}, stopLiveness() {} },
      firstRestartCount: async () => 0,
      resizes: { actual: () => undefined, carryOut: async () => true },
      ...this.#reports(kubelet),
    }
  }

  #read(pod: Pod, alive: <T>(call: () => Promise<T>) => Promise<T>): Promise<RuntimePod> {
    return alive(() => this.runtime.read({ uid: uidOf(pod), name: uidOf(pod), namespace: 'default' }))
  }

  /** How a kubelet reports statuses to the API. */
  #reports(kubelet: number): Pick<PodParts, 'report' | 'reportReleased' | 'isRestartingAll'> {
    const { time } = this
    return {
      report: (pod, runtimePod, waiting, termination) => {
        const known = this.pods.get(uidOf(pod))
        const status = podStatus(
          { ...pod, status: known?.status },
          {
            ...{ runtimePod, waiting, probes, hostIps: ['10.0.0.1'], runtimeName: 'fake', now: time.now() },
            ...{ messageOf: () => undefined, actual: undefined, cgroup: undefined, resizeConditions: [] },
            ...(termination && { termination }),
          },
        )
        if (known && kubelet === this.#kubelet) this.#report(known, status)
        return isTerminal(status.phase)
      },
      isRestartingAll: (pod) => isRestartingAll(this.pods.get(uidOf(pod))?.status ?? {}),
      reportReleased: (pod) => {
        if (kubelet !== this.#kubelet) return
        this.#released.add(uidOf(pod))
        this.#removeReleased(uidOf(pod))
      },
    }
  }

  #report(pod: Pod, status: NonNullable<Pod['status']>): void {
    const uid = pod.metadata.uid ?? ''
    const before = this.#phases.get(uid)
    if (isTerminal(before) && status.phase !== before)
      this.violations.push(`${uid} was ${before} and is ${status.phase}`)
    this.#phases.set(uid, status.phase ?? '')
    this.pods.set(uid, { ...pod, status })
    // A pod that ends by itself has its own grace period.
    if (isTerminal(status.phase)) this.#mayEnd(uid, 0)
  }

  #checkStart(uid: string): void {
    const deleted = this.deletedAt.get(uid)
    if (deleted !== undefined && deleted < this.time.now()) this.violations.push(`${uid} starts after its deletion`)
  }

  #checkQuiet(uid: string): void {
    if (this.runtime.running(uid).length > 0) this.violations.push(`${uid} is released while a container runs`)
  }
}

const uidOf = ({ metadata: { uid = '' } }: Pod): string => uid

const textOf = ({ sandboxes, containers }: Pick<RuntimePod, 'sandboxes' | 'containers'>): string =>
  [...sandboxes, ...containers].map(({ id, state }) => `${id} ${state}`).join()

const probes = { isAlive: () => true, isStarted: () => true, isReady: () => true }

const starterOf = (runtime: PodParts['starter']['runtime'], events: PodParts['events']): PodParts['starter'] => ({
  runtime,
  hooks: { postStart: async () => {} },
  stop: async () => {},
  events,
  security: { seccompFolder: '', seccompDefault: false },
  node: {
    memory: 1n << 32n,
    hugePageSizes: [],
    cgroupVersion: 1,
    hasSwapLimit: false,
    hasQuota: true,
    killsSingleProcess: false,
  },
  recordResources() {},
  linkLog() {},
  image: async () => ({ id: 'image', user: { uid: 0n, username: '' } }),
  cancelImages() {},
  countStart() {},
  countFailure() {},
  environment: () => ({
    services: new Map(),
    configMap: async () => undefined,
    secret: async () => undefined,
    field: () => '',
    resource: () => '',
  }),
  mounts: async () => [],
  devices: () => [],
  extraGroups: () => [],
})
