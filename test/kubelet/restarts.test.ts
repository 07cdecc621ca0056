/** Kubelet, API server and container runtime restart at random while pods run. Needs root. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Pod } from '../../src/client/kinds.ts'
import { type Cluster, startCluster } from '../../src/cluster/start-cluster.ts'
import { random } from '../support/random.ts'
import { type ReachableCluster, reachable } from '../support/reachable-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { inNamespaces } from './support/in-namespaces.ts'
import { type NodeRuntime, startNodeRuntime } from './support/runtimes/node-runtime.ts'
import { images } from './support/runtimes/test-images.ts'
import { startKubelet, type TestKubelet } from './support/start-kubelet.ts'

type Kind = 'kubelet' | 'API server' | 'runtime'

const kinds: readonly Kind[] = ['kubelet', 'API server', 'runtime']

/** A node whose parts restart. The API server has its data and its address after that, too. */
class RestartingNode {
  readonly root: string
  readonly log: string[] = []
  readonly #runtime: NodeRuntime
  #cluster: Cluster
  #reached: ReachableCluster
  #kubelet!: TestKubelet

  private constructor(runtime: NodeRuntime, root: string, cluster: Cluster) {
    this.#runtime = runtime
    this.root = root
    this.#cluster = cluster
    this.#reached = reachable({ after }, cluster)
  }

  static async start(): Promise<RestartingNode> {
    const root = mkdtempSync(join(tmpdir(), 't8s-restarts-'))
    const cluster = await startCluster({ storage: { directory: join(root, 'data') } })
    const node = new RestartingNode(await startNodeRuntime(), root, cluster)
    await node.#startKubelet()
    after(() => node.#stop())
    return node
  }

  /** Stops a program; the result starts it. */
  async stop(kind: Kind): Promise<() => Promise<void>> {
    if (kind === 'kubelet') {
      await this.#kubelet.stop()
      return () => this.#startKubelet()
    }
    if (kind === 'runtime') {
      await this.#runtime.stopDaemon()
      return () => this.#runtime.startDaemon()
    }
    const { port } = this.#cluster
    await this.#cluster.stop({ graceMs: 0 })
    return async () => {
      this.#cluster = await startCluster({ storage: { directory: join(this.root, 'data') }, port })
    }
  }

  /** Creates a pod that runs a script; the folder of the test is `/shared` in it. */
  async create(name: string, script: string): Promise<void> {
    const volumeMounts = [{ name: 'shared', mountPath: '/shared' }]
    await this.#reached.call('POST', '/api/v1/namespaces/default/pods', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      spec: {
        nodeName: 'n1',
        restartPolicy: 'Never',
        terminationGracePeriodSeconds: 0,
        automountServiceAccountToken: false,
        containers: [{ name: 'main', image: images.busybox, command: ['sh', '-c', script], volumeMounts }],
        volumes: [{ name: 'shared', hostPath: { path: this.root } }],
      },
    })
  }

  async read(name: string): Promise<Pod> {
    return (await this.#reached.call('GET', `/api/v1/namespaces/default/pods/${name}`)) as unknown as Pod
  }

  logOf(name: string): Promise<string> {
    return this.#reached.text(`/api/v1/namespaces/default/pods/${name}/log`)
  }

  /** Resolves with a pod that has a phase. */
  async until(name: string, phase: string): Promise<Pod> {
    let last: Pod | undefined
    const probe = async (): Promise<Pod | false> => (last = await this.read(name)).status?.phase === phase && last
    return waitFor(`${name} is ${phase}`, probe, { deadlineMs: 120_000, everyMs: 100 }).catch((cause) => {
      throw new Error(`${JSON.stringify(last?.status)}\n${this.log.slice(-30).join('\n')}`, { cause })
    })
  }

  async #startKubelet(): Promise<void> {
    const log = (line: string): void => void this.log.push(line)
    this.#kubelet = await startKubelet(this.#cluster, this.#runtime.endpoint, this.root, log)
  }

  async #stop(): Promise<void> {
    await this.#kubelet.stop()
    await this.#cluster.stop({ graceMs: 0 })
    await this.#runtime.stop()
    rmSync(this.root, { recursive: true, force: true })
  }
}

/** Writes a number each 50 ms until the file `end` is in the folder. */
const counter = 'i=0; while ! test -e /shared/end; do echo "$i"; i=$((i+1)); usleep 50000; done; echo ended; exit 4'

/** The output of a container as the runtime has written it. */
function writtenBy(root: string, { metadata: { name, uid } }: Pod): string {
  const lines = readFileSync(join(root, 'logs', `default_${name}_${uid}`, 'main/0.log'), 'utf8')
    .trimEnd()
    .split('\n')
  return lines.map((line) => `${line.split(' ').slice(3).join(' ')}\n`).join('')
}

async function testRestarts(t: TestContext, node: RestartingNode): Promise<void> {
  const seed = Number(process.env.T8S_SEED ?? Date.now() % 1_000_000)
  t.diagnostic(`T8S_SEED=${seed}`)
  const next = random(seed)
  const names = ['a', 'b', 'c']
  for (const name of names) await node.create(name, counter)
  const before = await Promise.all(names.map((name) => node.until(name, 'Running')))
  let runtimeRestarts = 0
  for (let i = 0; i < 20; i++) {
    const kind = kinds[Math.floor(next() * kinds.length)]!
    if (kind === 'runtime') runtimeRestarts++
    const startAgain = await node.stop(kind)
    await delay(next() * 500)
    await startAgain()
    await delay(next() * 500)
  }
  writeFileSync(join(node.root, 'end'), '')
  for (const { metadata, status } of before) {
    const pod = await node.until(metadata.name ?? '', 'Failed')
    const [container] = pod.status?.containerStatuses ?? []
    assert.equal(container?.containerID, status?.containerStatuses?.[0]?.containerID, `seed ${seed}`)
    assert.equal(container?.restartCount, 0)
    const text = await node.logOf(metadata.name ?? '')
    assert.equal(text, writtenBy(node.root, pod), `seed ${seed}`)
    const lines = text.trimEnd().split('\n')
    assert.equal(lines.pop(), 'ended')
    const counted = lines.map(Number)
    // A runtime may lose a line that it has read from a container and not written yet when it ends.
    const skipped = counted.filter((number, i) => number !== (counted[i - 1] ?? -1) + 1)
    assert.ok(skipped.length <= runtimeRestarts, `seed ${seed}: lines before ${skipped} are missing`)
    assert.deepEqual(
      [...new Set(counted)].toSorted((a, b) => a - b),
      counted,
    )
  }
}

await inNamespaces(import.meta.filename, async () => {
  const node = await RestartingNode.start()
  test('20 restarts at random restart no container, and lose no line of a log', (t) => testRestarts(t, node))
  for (const kind of ['kubelet', 'runtime'] as const)
    test(`containers that end while there is no ${kind} are noticed`, async () => {
      const name = `short-${kind}`
      await node.create(name, `while ! test -e /shared/end-${kind}; do usleep 50000; done; exit 3`)
      await node.until(name, 'Running')
      const startAgain = await node.stop(kind)
      writeFileSync(join(node.root, `end-${kind}`), '')
      await delay(500)
      await startAgain()
      const { status } = await node.until(name, 'Failed')
      assert.equal(status?.containerStatuses?.[0]?.state?.terminated?.exitCode, 3)
    })
})
