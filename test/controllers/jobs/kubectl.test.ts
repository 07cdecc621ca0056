/** Jobs and CronJobs with every installed kubectl. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { installedKubectls, Kubectl } from '../../support/kubectl.ts'
import { type BatchWorld, batchWorld } from './batch-world.ts'

describe('kubectl', { timeout: 180_000 }, () => {
  let world: BatchWorld
  const cleanUps: (() => unknown)[] = []
  before(async () => {
    world = await batchWorld({ after: (cleanUp) => cleanUps.push(cleanUp) })
  })
  after(async () => {
    for (const cleanUp of cleanUps) await cleanUp()
  })

  for (const program of installedKubectls())
    test(`creates Jobs and CronJobs, and waits for them (${program.version})`, async () => {
      const { cluster } = world
      const kubectl = new Kubectl(program, cluster.kubeconfigFile, cluster.folder)
      const [job, cron] = [`job-${program.minor}`, `cron-${program.minor}`]
      await kubectl.ok(`create job ${job} --image=app:1 -- true`, `job.batch/${job} created\n`)
      const waiting = kubectl.ok(
        `wait --for=condition=complete job/${job} --timeout=30s`,
        `job.batch/${job} condition met\n`,
      )
      await world.succeeds((await world.active(job, 1))[0]!)
      await waiting
      await kubectl.ok(`get job ${job} -o jsonpath={.status.succeeded}`, '1')
      assert.equal(await world.event(job, 'Completed'), 'Job completed')
      await kubectl.ok(`describe job ${job}`, /SuccessfulCreate[\s\S]*Completed/)

      await kubectl.ok(
        `create cronjob ${cron} --image=app:1 --schedule='0 0 1 1 *' -- true`,
        `cronjob.batch/${cron} created\n`,
      )
      await kubectl.ok(`create job ${cron}-now --from=cronjob/${cron}`, `job.batch/${cron}-now created\n`)
      await world.fails((await world.active(`${cron}-now`, 1))[0]!)
      await kubectl.ok(`wait --for=jsonpath={.status.failed}=1 job/${cron}-now --timeout=30s`)
      await kubectl.ok(`delete cronjob ${cron}`, new RegExp(`^cronjob.batch "${cron}" deleted`))
    })
})
