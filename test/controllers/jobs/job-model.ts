/**
 * A Job counts each pod once under random outcomes, deletions and changes. The model tracks the expected counts.
 * Requests without a response may or may not have succeeded.
 */
import assert from 'node:assert/strict'
import type { Job, Pod } from '../../../src/client/kinds.ts'
import type { Random } from '../../fuzz/random.ts'
import type { ReachableCluster } from '../../support/reachable-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'

export interface Play {
  readonly cluster: ReachableCluster
  readonly isIndexed: boolean
  readonly random: Random
  /** Called after each step. */
  readonly disturb: () => Promise<unknown>
  /** Called when disturbances end. */
  readonly rest: () => Promise<unknown>
}

const finalizer = 'batch.kubernetes.io/job-tracking'
const jobsPath = '/apis/batch/v1/namespaces/default/jobs'
const podsPath = '/api/v1/namespaces/default/pods'
const merge = 'application/merge-patch+json'
/** In the past, so that no back-off applies. */
const past = '2020-01-01T00:00:00Z'
const steps = 40

/** Outcomes of pods by uid; for succeeded ones with their index. */
interface Truth {
  readonly succeeded: Map<string, string>
  readonly failed: Set<string>
}

const nothing = (): Truth => ({ succeeded: new Map(), failed: new Set() })

/** A pod whose status write got no response: it may have ended and be counted. */
const lost = (pod: Pod): Pod => ({ ...pod, metadata: { ...pod.metadata, finalizers: [] } })

class Player {
  /** Pods with the finalizer when they ended: each is counted. */
  readonly truth = nothing()
  /** All pods: those that were being deleted when they ended may be counted. */
  readonly most = nothing()
  readonly #cluster: ReachableCluster
  readonly #name: string

  constructor(cluster: ReachableCluster, name: string) {
    this.#cluster = cluster
    this.#name = name
  }

  async job(): Promise<Job> {
    return (await this.#cluster.call('GET', `${jobsPath}/${this.#name}`)) as unknown as Job
  }

  async pods(): Promise<Pod[]> {
    const { items } = await this.#cluster.call('GET', `${podsPath}?labelSelector=job-name%3D${this.#name}`)
    return items as Pod[]
  }

  change(spec: object): Promise<unknown> {
    return this.#cluster.call('PATCH', `${jobsPath}/${this.#name}`, { spec }, merge)
  }

  /** Writes the status as a kubelet does. */
  async end(pod: Pod, phase: 'Succeeded' | 'Failed'): Promise<void> {
    const exitCode = phase === 'Failed' ? 1 : 0
    const containerStatuses = [
      {
        name: 'c',
        image: 'i',
        imageID: '',
        ready: false,
        restartCount: 0,
        state: { terminated: { exitCode, finishedAt: past } },
      },
    ]
    const answer = await this.#tryCall('PATCH', `${podsPath}/${pod.metadata.name}/status`, {
      metadata: { uid: pod.metadata.uid },
      status: { phase, containerStatuses },
    })
    this.#note(answer ?? lost(pod), phase)
  }

  async delete(pod: Pod): Promise<void> {
    // Its end is in the past, so that no back-off applies.
    const conditions = [{ type: 'Ready', status: 'False', lastTransitionTime: past }]
    await this.#tryCall('PATCH', `${podsPath}/${pod.metadata.name}/status`, {
      metadata: { uid: pod.metadata.uid },
      status: { conditions },
    })
    const answer = await this.#tryCall('DELETE', `${podsPath}/${pod.metadata.name}?gracePeriodSeconds=0`)
    if (answer?.status?.phase !== 'Succeeded') this.#note(answer?.metadata ? answer : lost(pod), 'Failed')
  }

  #note({ metadata }: Pod, phase: 'Succeeded' | 'Failed'): void {
    const { uid = '', annotations, finalizers } = metadata
    for (const { succeeded, failed } of finalizers?.includes(finalizer) ? [this.truth, this.most] : [this.most]) {
      if (phase === 'Failed') failed.add(uid)
      // A pod that was deleted before counts as failed, regardless of its later status.
      else if (!failed.has(uid)) succeeded.set(uid, annotations?.['batch.kubernetes.io/job-completion-index'] ?? '')
    }
  }

  async #tryCall(method: string, path: string, body?: object): Promise<Pod | undefined> {
    try {
      return (await this.#cluster.call(
        method,
        path,
        body,
        method === 'PATCH' ? 'application/strategic-merge-patch+json' : undefined,
      )) as unknown as Pod
    } catch (error) {
      // It was deleted or replaced.
      if (/ (404|409) /.test(String(error))) return undefined
      throw error
    }
  }

  /** Checks that the counted outcomes have happened. */
  async check(isIndexed: boolean, what: string): Promise<Job> {
    // The Job is read first: its counted outcomes have happened by then.
    const job = await this.job()
    const { succeeded = 0, failed = 0, uncountedTerminatedPods: named = {} } = job.status ?? {}
    const happened = isIndexed ? new Set(this.most.succeeded.values()).size : this.most.succeeded.size
    assert.ok(
      succeeded + (named.succeeded?.length ?? 0) <= happened,
      `${what}: ${succeeded} counted, ${happened} succeeded`,
    )
    assert.ok(
      failed + (named.failed?.length ?? 0) <= this.most.failed.size,
      `${what}: ${failed} counted, ${this.most.failed.size} failed`,
    )
    return job
  }
}

export async function playJob({ cluster, isIndexed, random, disturb, rest }: Play): Promise<void> {
  const completions = 12
  await cluster.call('POST', jobsPath, {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'j' },
    spec: {
      completions,
      parallelism: 4,
      backoffLimit: 1000,
      ...(isIndexed && { completionMode: 'Indexed' }),
      template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } },
    },
  })
  const player = new Player(cluster, 'j')
  for (let step = 0; step < steps; step++) {
    const running = (await player.pods()).filter(
      ({ metadata, status }) => status?.phase === 'Pending' && !metadata.deletionTimestamp,
    )
    const pod = running[random.below(Math.max(1, running.length))]
    const choice = random.below(20)
    if (choice === 0) await player.change({ suspend: true })
    else if (choice < 3) await player.change({ suspend: false })
    else if (choice < 5) await player.change({ parallelism: 1 + random.below(6) })
    else if (pod && choice < 9 && player.truth.succeeded.size < completions - 3) await player.end(pod, 'Succeeded')
    else if (pod && choice < 15) await player.end(pod, 'Failed')
    else if (pod && choice < 18) await player.delete(pod)
    await player.check(isIndexed, `step ${step}`)
    await disturb()
  }
  await rest()
  await player.change({ suspend: false, parallelism: 4 })
  // A pod that was deleted before it ended and observed only after enough succeeded is not counted.
  await waitFor(
    'the failed pods to be counted',
    async () => ((await player.job()).status?.failed ?? 0) >= player.truth.failed.size,
    { deadlineMs: 60_000 },
  )
  await waitFor(
    'the Job to complete',
    async () => {
      const job = await player.check(isIndexed, 'at the end')
      for (const pod of await player.pods())
        if (pod.status?.phase === 'Pending' && !pod.metadata.deletionTimestamp) await player.end(pod, 'Succeeded')
      return job.status?.conditions?.some(({ type, status }) => type === 'Complete' && status === 'True')
    },
    { deadlineMs: 60_000 },
  )
  const { status } = await player.job()
  assertBetween(status?.failed ?? 0, player.truth.failed.size, player.most.failed.size)
  if (isIndexed) assert.deepEqual([status?.succeeded, status?.completedIndexes], [completions, `0-${completions - 1}`])
  else assertBetween(status?.succeeded ?? 0, player.truth.succeeded.size, player.most.succeeded.size)
  assert.deepEqual(status?.uncountedTerminatedPods, {})
  await waitFor('all pods to be let go', async () =>
    (await player.pods()).every(({ metadata }) => !metadata.finalizers?.includes(finalizer)),
  )
}

const assertBetween = (count: number, least: number, most: number): void =>
  assert.ok(least <= count && count <= most, `${least} ≤ ${count} ≤ ${most}`)
