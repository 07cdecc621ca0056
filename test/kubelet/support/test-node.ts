/** A cluster with one node: our kubelet on a runtime under test. For tests in namespaces (`in-namespaces.ts`). */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { Connection } from '../../../src/client/connection/connection.ts'
import { events, namespaces, type Pod, pods } from '../../../src/client/kinds.ts'
import { RestClient } from '../../../src/client/rest/rest-client.ts'
import { type Cluster, type ClusterOptions, startCluster } from '../../../src/cluster/start-cluster.ts'
import type { Container, PodSpec } from '../../../src/kubelet/pod-types.ts'
import { linuxMounter } from '../../../src/kubelet/volumes/mounts/linux-mounter.ts'
import { mountsWithin } from '../../../src/kubelet/volumes/mounts/mount-table.ts'
import { type ReachableCluster, reachable } from '../../support/reachable-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'
import { type NodeRuntime, startNodeRuntime } from './runtimes/node-runtime.ts'
import { cgroupRootOf } from './runtimes/runtime-process.ts'
import { images } from './runtimes/test-images.ts'
import { startKubelet, type TestKubelet, type TestKubeletOptions } from './start-kubelet.ts'

/** Generous: machines that test are slow and busy. In ms. */
const deadlineMs = 120_000

export class TestNode {
  readonly cluster: Cluster
  readonly runtime: NodeRuntime
  /** The test's folder; the kubelet's is `kubelet` in it. */
  readonly root: string
  readonly client: RestClient
  /** The cluster, for plain requests. */
  readonly api: ReachableCluster
  /** The lines that the kubelet logs. */
  readonly log: string[] = []
  readonly #connection: Connection
  readonly #options: TestKubeletOptions
  #kubelet: TestKubelet | undefined

  private constructor(cluster: Cluster, runtime: NodeRuntime, root: string, options: TestKubeletOptions) {
    this.cluster = cluster
    this.runtime = runtime
    this.root = root
    this.#options = options
    this.#connection = new Connection(cluster.client)
    this.client = new RestClient(this.#connection)
    this.api = reachable({ after }, cluster)
  }

  /** Starts everything; it stops after the tests of the file. */
  static async start(options: ClusterOptions = {}, kubeletOptions: TestKubeletOptions = {}): Promise<TestNode> {
    const root = mkdtempSync(join(tmpdir(), 't8s-test-node-'))
    const runtime = await startNodeRuntime()
    const cluster = await startCluster({ storage: 'memory', thread: false, ...options })
    const node = new TestNode(cluster, runtime, root, kubeletOptions)
    after(() => node.#stop())
    await node.startKubelet()
    return node
  }

  get kubelet(): TestKubelet {
    if (!this.#kubelet) throw new Error('the kubelet does not run')
    return this.#kubelet
  }

  /** `configuration` has fields that differ from those of `start`. */
  async startKubelet(configuration: TestKubeletOptions['configuration'] = {}): Promise<void> {
    const log = (line: string): void => void this.log.push(line)
    const options = { ...this.#options, configuration: { ...this.#options.configuration, ...configuration } }
    this.#kubelet = await startKubelet(this.cluster, this.runtime.endpoint, this.root, log, options)
  }

  /** Containers continue. */
  async stopKubelet(): Promise<void> {
    await this.#kubelet?.stop()
    this.#kubelet = undefined
  }

  /** Stops the kubelet, and starts it again; `meanwhile` is called between. */
  async restart(meanwhile: () => void = () => {}): Promise<void> {
    await this.stopKubelet()
    meanwhile()
    await this.startKubelet()
  }

  /** The cgroup of all pods. */
  get cgroup(): string {
    return `${cgroupRootOf(this.runtime.endpoint)}/kubepods`
  }

  /** The path of a pod in the kubelet's folder. */
  podFolder({ metadata: { uid = '' } }: Pod): string {
    return join(this.root, 'kubelet/pods', uid)
  }

  /** Creates a pod of this node. */
  create(pod: NewPod): Promise<Pod> {
    return this.client.create(pods, podOf(pod))
  }

  async read({ metadata: { namespace = '', name = '' } }: Pod): Promise<Pod> {
    return this.client.get(pods, namespace, name)
  }

  /** Resolves with the pod when `condition` holds for it. A name is that of a pod in the namespace `default`. */
  until(podOrName: Pod | string, what: string, condition: (pod: Pod) => boolean): Promise<Pod> {
    const pod = typeof podOrName === 'string' ? podOf({ name: podOrName }) : podOrName
    return this.#wait(`${pod.metadata.name} ${what}`, pod, async () => {
      const current = await this.read(pod)
      return condition(current) && current
    })
  }

  /** Resolves when all containers run. */
  running(pod: Pod): Promise<Pod> {
    return this.until(pod, 'runs', isRunning)
  }

  /** Resolves with the output of a container, by default the first one, when the pod has ended. */
  async ended(pod: Pod, container?: string): Promise<string> {
    await this.until(pod, 'ends', ({ status }) => status?.phase === 'Succeeded' || status?.phase === 'Failed')
    return this.outputOf(pod, container)
  }

  /** Resolves with the output of a container so far when it contains a text. */
  outputWith(pod: Pod, text: string, container?: string): Promise<string> {
    return this.#wait(`${pod.metadata.name} prints ${text}`, pod, () => {
      const output = this.outputOf(pod, container)
      return output.includes(text) && output
    })
  }

  /** The output of all instances of a container so far. */
  outputOf(pod: Pod, container?: string): string {
    return this.#logOf(pod, container)
      .map((line) => line.split(' ').slice(3).join(' '))
      .join('\n')
      .trim()
  }

  /** The time at which a container has printed a text, in ms since 1970; NaN if it has not. */
  loggedAt(pod: Pod, text: string, container?: string): number {
    const line = this.#logOf(pod, container).find((one) => one.includes(text))
    return Date.parse(line?.split(' ')[0] ?? '')
  }

  #logOf({ metadata: { namespace, name, uid }, spec }: Pod, container = spec?.containers[0]?.name ?? ''): string[] {
    const folder = join(this.root, 'logs', `${namespace}_${name}_${uid}`, container)
    return readdirSync(folder).flatMap((file) => readFileSync(join(folder, file), 'utf8').split('\n'))
  }

  /** Deletes a pod, and resolves when it and its folder are gone. */
  async deleted(pod: Pod): Promise<void> {
    const { namespace = '', name = '', uid = '' } = pod.metadata
    await this.client.delete(pods, namespace, name).catch(() => {})
    await this.#wait(`${name} is deleted`, pod, async () => {
      const present = await this.client.find(pods, namespace, name)
      return present?.metadata.uid !== uid && !this.#folders().includes(uid)
    })
  }

  /** The messages of the events of a pod with a reason, oldest first. */
  async messages({ metadata: { namespace = '', uid } }: Pod, reason: string): Promise<readonly string[]> {
    const { items } = await this.client.list(events, { namespace })
    return items
      .filter((event) => event.involvedObject.uid === uid && event.reason === reason)
      .map(({ message = '' }) => message)
  }

  /** As `messages`; waits for the first event, which may be written after the status. */
  recorded(pod: Pod, reason: string): Promise<readonly string[]> {
    return this.#wait(`${pod.metadata.name} has an event ${reason}`, pod, async () => {
      const all = await this.messages(pod, reason)
      return all.length > 0 && all
    })
  }

  /** The events of an object as `REASON MESSAGE`. */
  async eventsOf(name: string): Promise<readonly string[]> {
    const { items } = await this.client.list(events, {})
    return items
      .filter(({ involvedObject }) => involvedObject.name === name)
      .map(({ reason, message }) => `${reason} ${message}`)
  }

  #folders(): readonly string[] {
    try {
      return readdirSync(join(this.root, 'kubelet/pods'))
    } catch {
      return []
    }
  }

  /** As `waitFor`; a failure shows the pod's status and the kubelet's log. */
  async #wait<T>(what: string, pod: Pod, probe: () => Promise<T | false> | T | false): Promise<T> {
    try {
      return await waitFor(what, probe, { deadlineMs, everyMs: 50 })
    } catch (error) {
      const { status } = await this.read(pod).catch(() => pod)
      throw new Error(`${what}: ${JSON.stringify(status, null, 1)}\n${this.log.slice(-30).join('\n')}`, {
        cause: error,
      })
    }
  }

  async #stop(): Promise<void> {
    if (this.#kubelet) await this.#deletePods()
    await this.stopKubelet()
    this.#connection.close()
    await this.cluster.stop({ graceMs: 0 })
    await this.runtime.stop()
    for (const { target } of mountsWithin(await linuxMounter.list(), this.root)) await linuxMounter.unmount(target)
    rmSync(this.root, { recursive: true, force: true })
  }

  /**
   * Their containers end before the runtime, and their cgroups and folders are removed. Controllers create no more pods
   * in namespaces that end.
   */
  async #deletePods(): Promise<void> {
    const spaces = (await this.client.list(namespaces, {})).items.map(({ metadata }) => metadata.name ?? '')
    const ofTests = spaces.filter((name) => name !== 'default' && !name.startsWith('kube-'))
    await Promise.all(ofTests.map((name) => this.client.delete(namespaces, '', name)))
    const { items } = await this.client.list(pods, {})
    await Promise.allSettled(items.map((pod) => this.deleted(pod)))
  }
}

/** A pod for a test: a script, or containers. */
export interface NewPod extends Partial<PodSpec> {
  readonly name: string
  /** Default: `default`. */
  readonly namespace?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  /** The script of the container `main`. */
  readonly script?: string
  /** More fields of the container `main`. */
  readonly container?: Partial<Container>
}

const podOf = ({ name, namespace = 'default', labels, annotations, script, container, ...spec }: NewPod): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace, name, labels: { ...labels }, annotations: { ...annotations } },
  spec: {
    nodeName: 'n1',
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: 0,
    automountServiceAccountToken: false,
    containers: [shell('main', script ?? 'exit 0', container)],
    ...spec,
  },
})

/** A container that runs a script. */
export const shell = (name: string, script: string, more: Partial<Container> = {}): Container => ({
  name,
  image: images.busybox,
  command: ['sh', '-c', script],
  ...more,
})

/** A pod of the node whose container sleeps, if `container` does not replace its command. */
export const sleeper = (name: string, container: Partial<Container> = {}, spec: Partial<PodSpec> = {}): Pod =>
  podOf({ name, restartPolicy: 'Always', container: { command: ['sleep', '2147483647'], ...container }, ...spec })

export const isRunning = ({ status }: Pod): boolean => {
  const { containerStatuses = [] } = status ?? {}
  return containerStatuses.length > 0 && containerStatuses.every(({ state }) => state?.running !== undefined)
}
