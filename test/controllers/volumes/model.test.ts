/**
 * Random volumes and claims while the binder crashes repeatedly. A volume has at most one claim, both reference each
 * other, claims get at least the requested size, no data is lost, and all claims that can be bound are bound.
 */
import { type TestContext, test } from 'node:test'
import { isMatch } from '../../../src/api/core/storage/binding/matching.ts'
import { Connection } from '../../../src/client/connection/connection.ts'
import { type RunningController, runController } from '../../../src/client/controller/controller.ts'
import { SharedInformers } from '../../../src/client/informers/shared-informers.ts'
import type { PersistentVolume, PersistentVolumeClaim } from '../../../src/client/kinds.ts'
import type { Resource } from '../../../src/client/resource.ts'
import { volumeBinder } from '../../../src/controllers/volumes/binder/controller.ts'
import { claimProtection } from '../../../src/controllers/volumes/protection/claims.ts'
import { volumeProtection } from '../../../src/controllers/volumes/protection/volumes.ts'
import type { KubeObject } from '../../../src/machinery/object.ts'
import { compareQuantities } from '../../../src/machinery/values/quantity.ts'
import { Random } from '../../fuzz/random.ts'
import { testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'
import { seed } from '../kills/seed.ts'
import { type Late, LateClient, oneInTen } from '../restarts/late-client.ts'
import { Storage, volumesPath } from './storage.ts'

const stepsPerRound = 25

/** A client that crashes after some writes. */
class CrashingClient extends LateClient {
  writesLeft = Number.POSITIVE_INFINITY

  override async update<T extends KubeObject>(of: Resource<T>, object: T, subresource = ''): Promise<T> {
    if (this.writesLeft-- <= 0) throw new Error('this process has ended')
    return super.update(of, object, subresource)
  }
}

const random = new Random(seed)

test(`volumes and claims agree despite crashes of the binder (T8S_SEED=${seed})`, (t) => play(t, 12, () => undefined))
test(`volumes and claims agree despite delayed watches (T8S_SEED=${seed})`, (t) => play(t, 3, oneInTen(random, 1500)))

async function play(t: TestContext, rounds: number, late: Late): Promise<void> {
  const cluster = await testCluster(t, { controllers: ['serviceaccount'] })
  const all = await Storage.in(cluster, 'model')
  const listed = async <T>(path: string): Promise<readonly T[]> =>
    ((await cluster.call('GET', path)) as unknown as { items: T[] }).items
  const claims = () => listed<PersistentVolumeClaim>(all.claims)
  const volumes = () => listed<PersistentVolume>(volumesPath)
  const one = <T>(of: readonly T[]): T | undefined => of[random.below(of.length)]
  const nameOf = (object: KubeObject | undefined): string => object?.metadata.name ?? ''
  let made = 0

  const binder = async (): Promise<{ client: CrashingClient; end: () => Promise<void> }> => {
    const connection = new Connection(cluster.client)
    const client = new CrashingClient(connection, late)
    const informers = new SharedInformers(client, () => {})
    const options = {
      syncPeriodMs: 50,
      dynamicProvisioning: true,
      hostPath: { enabled: false, directory: '/nowhere' },
      now: Date.now,
    }
    const running: RunningController[] = [volumeBinder(options), claimProtection, volumeProtection].map((controller) =>
      runController(controller, { informers, client }, () => {}),
    )
    await Promise.all(running.map(({ synced }) => synced))
    return {
      client,
      async end() {
        await Promise.all([informers.stop(), ...running.map((controller) => controller.stop())])
        connection.close()
      },
    }
  }

  const size = (): string => `${1 + random.below(4)}Gi`
  const steps: readonly (() => Promise<unknown>)[] = [
    () => all.volume(`v${made++}`, { capacity: { storage: size() } }),
    () => all.volume(`v${made++}`, { capacity: { storage: size() }, accessModes: ['ReadWriteOnce', 'ReadOnlyMany'] }),
    () =>
      all.volume(`v${made++}`, {
        capacity: { storage: '4Gi' },
        claimRef: { namespace: 'model', name: `c${made + random.below(4)}` },
      }),
    () => all.claim(`c${made++}`, { resources: { requests: { storage: size() } } }),
    () => all.claim(`c${made++}`, { resources: { requests: { storage: size() } } }),
    async () => all.claim(`c${made++}`, { volumeName: nameOf(one(await volumes())) || undefined }),
    async () => cluster.call('DELETE', `${all.claims}/${nameOf(one(await claims()))}`),
    async () => cluster.call('DELETE', `${volumesPath}/${nameOf(one(await volumes()))}`),
    async () => {
      const given = one((await volumes()).filter(({ status }) => status?.phase === 'Released'))
      return given && all.patch(`${volumesPath}/${nameOf(given)}`, { spec: { claimRef: null } })
    },
  ]

  /** Violations at any time. */
  function faults(ofClaims: readonly PersistentVolumeClaim[], ofVolumes: readonly PersistentVolume[]): string[] {
    const bound = ofClaims.filter(({ status }) => status?.phase === 'Bound')
    return [
      ...bound
        .filter((claim, at) => bound.findIndex(({ spec }) => spec?.volumeName === claim.spec?.volumeName) !== at)
        .map((claim) => `${nameOf(claim)} shares its volume`),
      ...ofClaims.filter(({ status }) => status?.phase === 'Lost').map((claim) => `${nameOf(claim)} is lost`),
      ...bound.flatMap((claim) => {
        const volume = ofVolumes.find((found) => nameOf(found) === claim.spec?.volumeName)
        if (!volume) return [`${nameOf(claim)} has no volume`]
        const isLess =
          compareQuantities(volume.spec?.capacity?.storage ?? '0', claim.spec?.resources?.requests?.storage ?? '0') < 0
        return [
          ...(isLess ? [`${nameOf(claim)} has less than asked`] : []),
          ...(volume.spec?.claimRef?.uid === claim.metadata.uid ? [] : [`${nameOf(volume)} is not ${nameOf(claim)}'s`]),
        ]
      }),
    ]
  }

  /** Unfinished work. */
  function unfinished(ofClaims: readonly PersistentVolumeClaim[], ofVolumes: readonly PersistentVolume[]): string[] {
    return [
      ...ofClaims.filter(({ metadata }) => metadata.deletionTimestamp).map((claim) => `${nameOf(claim)} is not gone`),
      ...ofClaims
        .filter(({ spec, status }) => status?.phase === 'Pending' && !spec?.volumeName)
        .filter((claim) => ofVolumes.some((volume) => !volume.metadata.deletionTimestamp && isMatch(volume, claim)))
        .map((claim) => `${nameOf(claim)} could have a volume`),
      ...ofVolumes.flatMap((volume) => {
        const { claimRef } = volume.spec ?? {}
        const owner = ofClaims.find(({ metadata }) => metadata.uid === claimRef?.uid)
        const expected = !claimRef?.uid ? 'Available' : owner ? 'Bound' : 'Released'
        if (owner && owner.spec?.volumeName !== nameOf(volume))
          return [`${nameOf(volume)} says it is ${nameOf(owner)}'s`]
        return volume.status?.phase === expected
          ? []
          : [`${nameOf(volume)} is ${volume.status?.phase}, not ${expected}`]
      }),
    ]
  }

  let current = await binder()
  t.after(() => current.end())
  for (let round = 0; round < rounds; round++) {
    current.client.writesLeft = random.below(20)
    // Missing objects and rejected requests are expected.
    for (let step = 0; step < stepsPerRound; step++)
      await random
        .pick(steps)()
        .catch(() => {})
    await current.end()
    current = await binder()
    await waitFor(
      `all to agree in round ${round}`,
      async () => {
        // Claims are read first: volumes of bound claims exist by now.
        const [ofClaims, ofVolumes] = [await claims(), await volumes()]
        const left = [...faults(ofClaims, ofVolumes), ...unfinished(ofClaims, ofVolumes)]
        if (left.length > 0) throw new Error(left.join('; '))
        return true
      },
      { deadlineMs: 60_000 },
    )
  }
}
