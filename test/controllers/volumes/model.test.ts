/**
 * Random volumes and claims while the binder crashes repeatedly. A volume has at most one claim, both reference each
 * other, claims get at least the requested size, no data is lost, and all claims that can be bound are bound.
 */
import { type TestContext, test } from 'node:test'
import type { PersistentVolume, PersistentVolumeClaim } from '../../../src/client/kinds.ts'
import { Random } from '../../fuzz/random.ts'
import { testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'
import { seed } from '../kills/seed.ts'
import { type Late, oneInTen } from '../restarts/late-client.ts'
import { nameOf, unfinished, violations } from './consistency.ts'
import { CrashingBinder } from './crashing-binder.ts'
import { Storage, volumesPath } from './storage.ts'

const stepsPerRound = 25

const random = new Random(seed)

test(`volumes and claims agree despite crashes of the binder (T8S_SEED=${seed})`, (t) => play(t, 12, () => undefined))
test(`volumes and claims agree despite delayed watches (T8S_SEED=${seed})`, (t) => play(t, 3, oneInTen(random, 1500)))

async function play(t: TestContext, rounds: number, late: Late): Promise<void> {
  const cluster = await testCluster(t, { controllers: ['serviceaccount'] })
  const storage = await Storage.in(cluster, 'model')
  const steps = stepsOn(storage)
  let binder = await CrashingBinder.start(cluster.client, late)
  t.after(() => binder.stop())
  for (let round = 0; round < rounds; round++) {
    binder.crashAfter(random.below(20))
    // Missing objects and rejected requests are expected.
    for (let step = 0; step < stepsPerRound; step++)
      await random
        .pick(steps)()
        .catch(() => {})
    await binder.stop()
    binder = await CrashingBinder.start(cluster.client, late)
    await settled(storage, round)
  }
}

/** The random changes of volumes and claims. */
function stepsOn(storage: Storage): readonly (() => Promise<unknown>)[] {
  const { cluster } = storage
  let created = 0
  const size = (): string => `${1 + random.below(4)}Gi`
  const anyOf = <T>(objects: readonly T[]): T | undefined => objects[random.below(objects.length)]
  const claimOfSize = () => storage.claim(`c${created++}`, { resources: { requests: { storage: size() } } })
  const sharedModes = ['ReadWriteOnce', 'ReadOnlyMany']
  return [
    () => storage.volume(`v${created++}`, { capacity: { storage: size() } }),
    () => storage.volume(`v${created++}`, { capacity: { storage: size() }, accessModes: sharedModes }),
    () => {
      const claimRef = { namespace: storage.namespace, name: `c${created + 1 + random.below(4)}` }
      return storage.volume(`v${created++}`, { capacity: { storage: '4Gi' }, claimRef })
    },
    claimOfSize,
    claimOfSize,
    async () => storage.claim(`c${created++}`, { volumeName: nameOf(anyOf(await volumesOf(storage))) || undefined }),
    async () => cluster.call('DELETE', `${storage.claims}/${nameOf(anyOf(await claimsOf(storage)))}`),
    async () => cluster.call('DELETE', `${volumesPath}/${nameOf(anyOf(await volumesOf(storage)))}`),
    async () => {
      const released = anyOf((await volumesOf(storage)).filter(({ status }) => status?.phase === 'Released'))
      return released && storage.patch(`${volumesPath}/${nameOf(released)}`, { spec: { claimRef: null } })
    },
  ]
}

/** Waits until all claims are bound that can be, and nothing is inconsistent. */
const settled = (storage: Storage, round: number): Promise<true> =>
  waitFor(
    `volumes and claims to agree in round ${round}`,
    async () => {
      // Claims are read first: volumes of bound claims exist by now.
      const [claims, volumes] = [await claimsOf(storage), await volumesOf(storage)]
      const problems = [...violations(claims, volumes), ...unfinished(claims, volumes)]
      if (problems.length > 0) throw new Error(problems.join('; '))
      return true as const
    },
    { deadlineMs: 60_000 },
  )

const claimsOf = (storage: Storage) => listed<PersistentVolumeClaim>(storage, storage.claims)
const volumesOf = (storage: Storage) => listed<PersistentVolume>(storage, volumesPath)

const listed = async <T>({ cluster }: Storage, path: string): Promise<readonly T[]> =>
  ((await cluster.call('GET', path)) as unknown as { items: T[] }).items
