/**
 * Deployments under random operations, with their controllers stopped and started anew at random points. At every change that a
 * watch tells: no more pods are asked for than surge allows, no fewer are available than may be missing (while nobody but the
 * controllers takes pods away), and pods of two templates never run side by side where pods are recreated. In the end all is as asked for.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Connection, type ServerAccess } from '../../../src/client/connection/connection.ts'
import { type RunningController, runController } from '../../../src/client/controller/controller.ts'
import { SharedInformers } from '../../../src/client/informers/shared-informers.ts'
import { type Deployment, type Pod, pods, type ReplicaSet, replicaSets } from '../../../src/client/kinds.ts'
import { RestClient } from '../../../src/client/rest/rest-client.ts'
import { deploymentController } from '../../../src/controllers/replicas/deployments/controller.ts'
import { limitsOf } from '../../../src/controllers/replicas/deployments/sizes.ts'
import { podSetController } from '../../../src/controllers/replicas/pod-sets/controller.ts'
import { replicaSetKind } from '../../../src/controllers/replicas/pod-sets/kind.ts'
import { Random } from '../../fuzz/random.ts'
import { testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'
import { progressOf, Workloads } from './workloads.ts'

const rounds = 6
const operations = 12
/** Who is killed has requests under way, and says so. */
const silent = (): void => {}
const cluster = testCluster({ after }, { controllers: ['serviceaccount'] })

/** Controllers that can be killed and started as often as one likes. */
class Restarted {
  readonly #access: ServerAccess
  #running: { connection: Connection; informers: SharedInformers; controllers: RunningController[] } | undefined

  constructor(access: ServerAccess) {
    this.#access = access
  }

  async restart(): Promise<void> {
    await this.stop()
    const connection = new Connection(this.#access)
    const client = new RestClient(connection)
    const informers = new SharedInformers(client, silent)
    const controllers = [deploymentController(5), podSetController(replicaSetKind, 5)]
    this.#running = { connection, informers, controllers: controllers.map((controller) => runController(controller, { informers, client }, silent)) }
  }

  async stop(): Promise<void> {
    const running = this.#running
    this.#running = undefined
    await Promise.all([running?.informers.stop(), ...(running?.controllers ?? []).map((controller) => controller.stop())])
    running?.connection.close()
  }
}

/** Watches what the controllers do to the one Deployment of a namespace, and notes what must not be. */
class Judge {
  readonly violations: string[] = []
  /** The most pods that may be asked for, and the fewest that have to be available. */
  most = 0
  fewest = 0
  isRecreated = false
  readonly #pods = new Map<string, Pod>()
  readonly #sets = new Map<string, ReplicaSet>()

  constructor(informers: SharedInformers, namespace: string) {
    informers.of(pods, { namespace }).onChange((pod, before) => this.#changed(this.#pods, pod, before))
    informers.of(replicaSets, { namespace }).onChange((set, before) => this.#changed(this.#sets, set, before))
  }

  #changed<T extends Pod | ReplicaSet>(known: Map<string, T>, object: T | undefined, before: T | undefined): void {
    const name = (object ?? before)?.metadata.name ?? ''
    if (object) known.set(name, object)
    else known.delete(name)
    this.#check(`${(object ?? before)?.kind} ${name}`)
  }

  #check(at: string): void {
    const all = [...this.#pods.values()]
    const running = all.filter(({ metadata, status }) => metadata.labels?.app === 'web' && status?.phase !== 'Failed')
    const available = running.filter(
      ({ metadata, status }) => !metadata.deletionTimestamp && status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'),
    )
    const asked = [...this.#sets.values()].reduce((total, { spec }) => total + (spec?.replicas ?? 1), 0)
    if (asked > this.most) this.violations.push(`${at}: ${asked} pods are asked for, more than ${this.most}`)
    if (available.length < this.fewest) this.violations.push(`${at}: ${available.length} pods are available, fewer than ${this.fewest}`)
    const templates = new Set(running.map(({ metadata }) => metadata.labels?.['pod-template-hash']))
    if (this.isRecreated && templates.size > 1) this.violations.push(`${at}: pods of ${templates.size} templates run`)
  }
}

interface Limits {
  readonly most: number
  readonly fewest: number
}

const boundsOf = (deployment: Deployment): Limits => {
  const { maxSurge, maxUnavailable } = limitsOf(deployment)
  const replicas = deployment.spec?.replicas ?? 1
  return { most: replicas + maxSurge, fewest: deployment.spec?.strategy?.type === 'Recreate' ? 0 : replicas - maxUnavailable }
}

for (const [seed, strategy] of [
  [1, { type: 'RollingUpdate', rollingUpdate: { maxSurge: 2, maxUnavailable: 1 } }],
  [2, { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } }],
  [3, { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 2 } }],
  [4, { type: 'Recreate' }],
] as const)
  test(`a Deployment keeps its limits under random operations (seed ${seed}, ${JSON.stringify(strategy)})`, async (t) => {
    const { client: access } = await cluster
    const namespace = `model-${seed}`
    const all = await Workloads.in(await cluster, namespace)
    const connection = new Connection(access)
    const watching = new SharedInformers(new RestClient(connection), silent)
    const judge = new Judge(watching, namespace)
    const controllers = new Restarted(access)
    t.after(async () => {
      await controllers.stop()
      await watching.stop()
      connection.close()
    })
    const random = new Random(seed)
    const isOpen = (pod: Pod): boolean => pod.status?.phase === 'Pending' && !pod.metadata.deletionTimestamp
    const onePod = async (which: (pod: Pod) => boolean, act: (name: string) => Promise<unknown>): Promise<void> => {
      const candidates = (await all.pods('web')).filter(which)
      // It may have gone meanwhile.
      if (candidates.length > 0) await act(random.pick(candidates).metadata.name ?? '').catch((error) => assert.match(String(error), / (404|409) /))
    }
    const widen = (deployment: Deployment): void => {
      const { most, fewest } = boundsOf(deployment)
      judge.most = Math.max(judge.most, most)
      judge.fewest = Math.min(judge.fewest, fewest)
    }
    /** Widens the limits by what is about to be asked for, before anybody acts on it. */
    const resize = async (replicas: number): Promise<void> => {
      const deployment = await all.deployment('web')
      // In proportion, sets that are available may shrink while others do not become so.
      judge.fewest = 0
      widen({ ...deployment, spec: { ...deployment.spec!, replicas } })
      await all.change('web', { replicas })
    }
    const settled = async (): Promise<Deployment> => {
      await all.change('web', { paused: false })
      const deployment = await all.rolledOut('web')
      const active = (await all.pods('web')).filter(({ metadata, status }) => !metadata.deletionTimestamp && status?.phase !== 'Failed')
      assert.equal(active.length, deployment.spec?.replicas)
      assert.equal((await all.sets('web')).filter(({ spec }) => spec?.replicas !== 0).length, 1)
      return deployment
    }

    let tag = 0
    const rollout = [
      () => all.image('web', ++tag),
      () => all.image('web', random.below(tag + 1)),
      () => all.change('web', { paused: random.chance(0.5) }),
      () => controllers.restart(),
      ...Array.from({ length: 6 }, () => () => onePod(isOpen, (name) => all.tell(name, 'Running', true))),
    ]
    const scaling = [...rollout, () => resize(1 + random.below(9))]
    const disruption = [
      ...rollout,
      () =>
        onePod(
          () => true,
          (name) => all.delete(`${all.core}/pods/${name}`),
        ),
      () =>
        onePod(
          () => true,
          (name) => all.tell(name, 'Failed', false),
        ),
      () =>
        onePod(
          () => true,
          (name) => all.tell(name, 'Running', false),
        ),
    ]

    judge.isRecreated = strategy.type === 'Recreate'
    judge.most = 20
    await controllers.restart()
    widen(await all.deploy('web', { replicas: 5, strategy, revisionHistoryLimit: 3 }))
    for (let round = 0; round < rounds; round++) {
      const deployment = await settled()
      const bounds = boundsOf(deployment)
      const actions = [rollout, scaling, disruption][round % 3] ?? rollout
      // What the watch has told up to now was judged by other limits.
      const marker = await all.post<Pod>(`${all.core}/pods`, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: `marker-${round}` },
        spec: { containers: [{ name: 'c', image: 'i' }] },
      })
      await waitFor('the watch to come this far', () =>
        [...watching.of(pods, { namespace }).all()].some(({ metadata }) => metadata.uid === marker.metadata.uid),
      )
      await all.delete(`${all.core}/pods/${marker.metadata.name}`)
      judge.most = bounds.most
      judge.fewest = actions === disruption ? 0 : bounds.fewest
      for (let at = 0; at < operations; at++) await random.pick(actions)()
    }
    const last = await settled()
    assert.equal(progressOf(last).reason, 'NewReplicaSetAvailable')
    assert.deepEqual(judge.violations, [])
  })
