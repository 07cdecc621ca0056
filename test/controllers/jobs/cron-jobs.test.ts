/** CronJobs create Jobs on their schedule. The test controls the clock of the controller. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Connection } from '../../../src/client/connection/connection.ts'
import { runController } from '../../../src/client/controller/controller.ts'
import { SharedInformers } from '../../../src/client/informers/shared-informers.ts'
import type { CronJob, Job } from '../../../src/client/kinds.ts'
import { RestClient } from '../../../src/client/rest/rest-client.ts'
import { cronJobController } from '../../../src/controllers/jobs/cron-job/cron-job-controller.ts'
import { creationSkew } from '../../../src/controllers/jobs/time-metrics.ts'
import { waitFor } from '../../support/wait-for.ts'
import { type BatchWorld, batch, batchWorld, template } from './batch-world.ts'

const minuteMs = 60_000

class Clock {
  /** The next full minute, so that objects created now are not in the future. */
  now = Math.ceil(Date.now() / minuteMs) * minuteMs
  readonly #world: BatchWorld

  constructor(world: BatchWorld) {
    this.#world = world
  }

  /** Advances the clock and reconciles the CronJob. */
  async advance(name: string, minutes: number): Promise<void> {
    this.now += minutes * minuteMs
    await this.#world.change(`${batch}/cronjobs/${name}`, { metadata: { annotations: { now: `${this.now}` } } })
  }
}

/** Runs the Job controller and a CronJob controller whose clock the test controls. */
async function withClock(
  t: Parameters<typeof batchWorld>[0],
  work: (world: BatchWorld, clock: Clock) => Promise<void>,
): Promise<void> {
  const world = await batchWorld(t, ['job'])
  const clock = new Clock(world)
  const connection = new Connection(world.cluster.client)
  const client = new RestClient(connection)
  const logged: string[] = []
  const informers = new SharedInformers(client, (line) => logged.push(line))
  const running = runController(
    cronJobController(2, creationSkew(), () => clock.now),
    { informers, client },
    (line) => logged.push(line),
  )
  try {
    await work(world, clock)
    assert.deepEqual(logged, [])
  } finally {
    const stopped = Promise.all([running.stop(), informers.stop()])
    connection.close()
    await stopped
  }
}

const create = (world: BatchWorld, name: string, spec: object = {}): Promise<unknown> =>
  world.cluster.call('POST', `${batch}/cronjobs`, {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name },
    spec: { schedule: '* * * * *', jobTemplate: { spec: { template: template() } }, ...spec },
  })

/** Waits for `count` Jobs of a CronJob that are not being deleted, oldest first. */
const jobsOf = (world: BatchWorld, name: string, count: number): Promise<Job[]> =>
  waitFor(`${count} Jobs of ${name}`, async () => {
    const { items } = await world.cluster.call('GET', `${batch}/jobs`)
    const jobs = (items as Job[]).filter(
      ({ metadata }) => metadata.ownerReferences?.[0]?.name === name && !metadata.deletionTimestamp,
    )
    return jobs.length === count && jobs
  })

const cronWith = (
  world: BatchWorld,
  name: string,
  holds: (status: NonNullable<CronJob['status']>) => unknown,
): Promise<CronJob> =>
  waitFor(`the status of ${name}`, async () => {
    const cron = await world.cron(name)
    return holds(cron.status ?? {}) ? cron : undefined
  })

test('CronJob AllowConcurrent: each scheduled time gets a Job named after it', (t) =>
  withClock(t, async (world, clock) => {
    await create(world, 'many', { timeZone: 'Etc/UTC' })
    await clock.advance('many', 1)
    const [first] = await jobsOf(world, 'many', 1)
    assert.equal(first?.metadata.name, `many-${clock.now / minuteMs}`)
    assert.equal(
      first?.metadata.annotations?.['batch.kubernetes.io/cronjob-scheduled-timestamp'],
      new Date(clock.now).toISOString().replace('.000', ''),
    )
    assert.equal(await world.event('many', 'SuccessfulCreate'), `Created job ${first?.metadata.name}`)
    await clock.advance('many', 1)
    await jobsOf(world, 'many', 2)
    const { status } = await cronWith(world, 'many', ({ active }) => active?.length === 2)
    assert.equal(Date.parse(status?.lastScheduleTime ?? ''), clock.now)
    assert.equal(status?.active?.[0]?.uid, first?.metadata.uid)
  }))

test('CronJob ForbidConcurrent: a running Job delays the next one', (t) =>
  withClock(t, async (world, clock) => {
    await create(world, 'one', { concurrencyPolicy: 'Forbid' })
    await clock.advance('one', 1)
    const [first] = await jobsOf(world, 'one', 1)
    await cronWith(world, 'one', ({ active }) => active)
    await clock.advance('one', 1)
    assert.match(
      await world.event('one', 'JobAlreadyActive'),
      /prior execution is running and concurrency policy is Forbid/,
    )
    await jobsOf(world, 'one', 1)
    await world.succeeds((await world.active(first?.metadata.name ?? '', 1))[0]!)
    assert.equal(
      await world.event('one', 'SawCompletedJob'),
      `Saw completed job: ${first?.metadata.name}, condition: Complete`,
    )
    // The delayed run is made up for.
    await jobsOf(world, 'one', 2)
    const { status } = await cronWith(
      world,
      'one',
      ({ active, lastSuccessfulTime }) => active?.length === 1 && lastSuccessfulTime,
    )
    assert.notEqual(status?.active?.[0]?.uid, first?.metadata.uid)
  }))

test('CronJob ReplaceConcurrent: the next Job replaces the running one', (t) =>
  withClock(t, async (world, clock) => {
    await create(world, 'swap', { concurrencyPolicy: 'Replace' })
    await clock.advance('swap', 1)
    const [first] = await jobsOf(world, 'swap', 1)
    await cronWith(world, 'swap', ({ active }) => active)
    await clock.advance('swap', 1)
    assert.equal(await world.event('swap', 'SuccessfulDelete'), `Deleted job ${first?.metadata.name}`)
    const { status } = await cronWith(
      world,
      'swap',
      ({ active }) => active?.length === 1 && active[0]?.uid !== first?.metadata.uid,
    )
    assert.equal(status?.active?.[0]?.name, `swap-${clock.now / minuteMs}`)
  }))

test('CronJob Suspend: a suspended CronJob creates no Jobs and makes up for missed times once', (t) =>
  withClock(t, async (world, clock) => {
    await create(world, 'asleep', { suspend: true })
    await create(world, 'awake')
    await clock.advance('asleep', 3)
    await clock.advance('awake', 0)
    await jobsOf(world, 'awake', 1)
    await jobsOf(world, 'asleep', 0)
    await clock.advance('asleep', 200)
    await world.change(`${batch}/cronjobs/asleep`, { spec: { suspend: false } })
    assert.equal(
      await world.event('asleep', 'TooManyMissedTimes'),
      'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew',
    )
    assert.equal((await jobsOf(world, 'asleep', 1))[0]?.metadata.name, `asleep-${clock.now / minuteMs}`)
  }))

test('a Job past its starting deadline is not created', (t) =>
  withClock(t, async (world, clock) => {
    await create(world, 'late', { startingDeadlineSeconds: 20, schedule: '0 0 1 1 *' })
    clock.now += 30_000
    // The time of the schedule is half a minute ago.
    const due = new Date(clock.now - 30_000)
    await world.change(`${batch}/cronjobs/late`, {
      spec: { schedule: `${due.getUTCMinutes()} ${due.getUTCHours()} * * *`, timeZone: 'Etc/UTC' },
    })
    await clock.advance('late', 0)
    await create(world, 'other')
    await clock.advance('other', 1)
    await jobsOf(world, 'other', 1)
    await jobsOf(world, 'late', 0)
  }))

test('the history limits delete old finished Jobs', (t) =>
  withClock(t, async (world, clock) => {
    await create(world, 'short', {
      successfulJobsHistoryLimit: 1,
      failedJobsHistoryLimit: 0,
      jobTemplate: { spec: { backoffLimit: 0, template: template() } },
    })
    const names: string[] = []
    for (const ends of ['succeeds', 'succeeds', 'fails'] as const) {
      await clock.advance('short', 1)
      const name = `short-${clock.now / minuteMs}`
      await world[ends]((await world.active(name, 1))[0]!)
      await cronWith(
        world,
        'short',
        ({ active, lastScheduleTime }) => !active && Date.parse(lastScheduleTime ?? '') === clock.now,
      )
      names.push(name)
    }
    assert.equal((await jobsOf(world, 'short', 1))[0]?.metadata.name, names[1])
  }))

test('an existing Job is found again, and a manually created one is not owned', (t) =>
  withClock(t, async (world, clock) => {
    await create(world, 'again', { suspend: true })
    const { metadata } = await world.cron('again')
    const owner = { apiVersion: 'batch/v1', kind: 'CronJob', name: 'again', uid: metadata.uid, controller: true }
    const job = (name: string) => ({
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name, ownerReferences: [owner] },
      spec: { template: template() },
    })
    await world.cluster.call('POST', `${batch}/jobs`, job('by-hand'))
    assert.equal(
      await world.event('again', 'UnexpectedJob'),
      'Saw a job that the controller did not create or forgot: by-hand',
    )
    const name = `again-${clock.now / minuteMs}`
    await world.cluster.call('POST', `${batch}/jobs`, job(name))
    await world.change(`${batch}/cronjobs/again`, { spec: { suspend: false } })
    const { status } = await cronWith(world, 'again', ({ active }) => active)
    assert.deepEqual(
      status?.active?.map((one) => one.name),
      [name],
    )
  }))
