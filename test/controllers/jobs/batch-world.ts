/** A cluster with the Job controllers, in which the test simulates the kubelet. */
import type { CronJob, Event, Job, Pod } from '../../../src/client/kinds.ts'
import { type TestCluster, testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'

export const batch = '/apis/batch/v1/namespaces/default'
export const core = '/api/v1/namespaces/default'
const strategic = 'application/strategic-merge-patch+json'
const merge = 'application/merge-patch+json'
/** In the past, so that no back-off applies. */
const past = '2020-01-01T00:00:00Z'

export const template = (more: object = {}): object => ({
  spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'app:1' }], ...more },
})

export class BatchWorld {
  readonly cluster: TestCluster

  constructor(cluster: TestCluster) {
    this.cluster = cluster
  }

  async create(name: string, spec: object = {}): Promise<Job> {
    const body = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name }, spec: { template: template(), ...spec } }
    return (await this.cluster.call('POST', `${batch}/jobs`, body)) as unknown as Job
  }

  async job(name: string): Promise<Job> {
    return (await this.cluster.call('GET', `${batch}/jobs/${name}`)) as unknown as Job
  }

  async cron(name: string): Promise<CronJob> {
    return (await this.cluster.call('GET', `${batch}/cronjobs/${name}`)) as unknown as CronJob
  }

  change(path: string, patch: object): Promise<unknown> {
    return this.cluster.call('PATCH', path, patch, merge)
  }

  async pods(job: string): Promise<Pod[]> {
    return (await this.cluster.call('GET', `${core}/pods?labelSelector=job-name%3D${job}`)).items as Pod[]
  }

  /**
   * Waits for so many pods that have neither ended nor been deleted; they come in the order of their indexes, if they
   * have any.
   */
  active(job: string, count: number): Promise<Pod[]> {
    return waitFor(`${count} pods of ${job}`, async () => {
      const active = (await this.pods(job)).filter(
        ({ metadata, status }) => !metadata.deletionTimestamp && /Pending|Running/.test(status?.phase ?? ''),
      )
      return active.length === count && active.sort((a, b) => indexOf(a) - indexOf(b))
    })
  }

  runs(pod: Pod): Promise<unknown> {
    return this.#status(pod, { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] })
  }

  succeeds(pod: Pod): Promise<unknown> {
    return this.#ends(pod, 'Succeeded', 0)
  }

  fails(pod: Pod, exitCode = 1, conditions: readonly object[] = []): Promise<unknown> {
    return this.#ends(pod, 'Failed', exitCode, conditions)
  }

  /** Waits until a condition of a Job is True. */
  condition(job: string, type: string): Promise<Job> {
    return waitFor(`${job} to be ${type}`, async () => {
      const found = await this.job(job)
      return (
        found.status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') && found
      )
    })
  }

  /** Waits until the status of a Job has these members. */
  status(job: string, expected: Record<string, unknown>): Promise<Job> {
    return waitFor(`${job} to have ${JSON.stringify(expected)}`, async () => {
      const found = await this.job(job)
      const status: Record<string, unknown> = { ...found.status }
      return Object.entries(expected).every(([field, value]) => (status[field] ?? 0) === value) && found
    })
  }

  /** Waits for an event; resolves with its message. */
  event(about: string, reason: string): Promise<string> {
    return waitFor(`${reason} of ${about}`, async () => {
      const { items } = await this.cluster.call('GET', `${core}/events?fieldSelector=involvedObject.name%3D${about}`)
      return (items as Event[]).find((event) => event.reason === reason)?.message
    })
  }

  #ends(pod: Pod, phase: string, exitCode: number, conditions: readonly object[] = []): Promise<unknown> {
    const state = { terminated: { exitCode, finishedAt: past } }
    return this.#status(pod, {
      phase,
      conditions,
      containerStatuses: [{ name: 'c', image: 'i', imageID: '', ready: false, restartCount: 0, state }],
    })
  }

  #status({ metadata }: Pod, status: object): Promise<unknown> {
    return this.cluster.call('PATCH', `${core}/pods/${metadata.name}/status`, { status }, strategic)
  }
}

const indexOf = ({ metadata }: Pod): number =>
  Number(metadata.annotations?.['batch.kubernetes.io/job-completion-index'] ?? 0)

export async function batchWorld(
  t: Parameters<typeof testCluster>[0],
  controllers = ['job', 'cronjob', 'ttl-after-finished'],
): Promise<BatchWorld> {
  const cluster = await testCluster(t, { controllers: ['serviceaccount', ...controllers] })
  // Pods run under it.
  await waitFor('the account of pods', () => cluster.call('GET', `${core}/serviceaccounts/default`).then(() => true))
  return new BatchWorld(cluster)
}

/** Type, reason and message of the True conditions. */
export const conditions = ({ status }: Job): string[] =>
  (status?.conditions ?? [])
    .filter((condition) => condition.status === 'True')
    .map(({ type, reason, message }) => `${type} ${reason}: ${message}`)
