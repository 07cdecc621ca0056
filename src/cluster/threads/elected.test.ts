import assert from 'node:assert/strict'
import { test } from 'node:test'
import { leases } from '../../client/kinds.ts'
import { fakeClient } from '../testing/index.ts'
import { type LeadingComponent, runElected } from './elected.ts'

const lease = { namespace: 'kube-system', name: 'work' }
const times = { leaseDurationMs: 400, renewDeadlineMs: 300, retryPeriodMs: 20 }

/** A component whose terms can be awaited. */
function recorded() {
  const terms: string[] = []
  let changed = Promise.withResolvers<void>()
  const record = (what: string): void => {
    terms.push(what)
    changed.resolve()
    changed = Promise.withResolvers()
  }
  return {
    terms,
    start(): LeadingComponent {
      record('started')
      return { synced: Promise.resolve(), stop: async (isLost) => record(isLost ? 'lost' : 'stopped') }
    },
    async until(count: number): Promise<void> {
      while (terms.length < count) await changed.promise
    },
  }
}

test('a component stops when another process has the lease, and starts again when it is free', async (t) => {
  const client = await fakeClient()
  t.after(() => client.close())
  const lines: string[] = []
  const { terms, start, until } = recorded()
  const running = runElected({
    ...lease,
    ...times,
    client,
    component: 'worker',
    start,
    log: (line) => lines.push(line),
  })
  await until(1)
  await running.synced
  assert.ok(running.isLeader)

  /** Takes the lease away, as a process whose clock or connection is better. */
  const hold = async (holderIdentity: string): Promise<void> => {
    const present = await client.get(leases, lease.namespace, lease.name)
    const renewTime = new Date().toISOString().replace('Z', '000Z')
    const spec = { ...present.spec, holderIdentity, renewTime }
    await client.update(leases, { ...present, spec }).catch(() => hold(holderIdentity))
  }
  await hold('other')
  await until(2)
  assert.deepEqual(terms, ['started', 'lost'])
  await hold('')
  await until(3)
  assert.deepEqual(lines, [
    'worker is run by other, which holds the lease kube-system/work',
    'worker stopped: it lost the lease kube-system/work',
    'worker is run by this process: it has the lease kube-system/work',
  ])
  await running.stop()
  assert.deepEqual(terms, ['started', 'lost', 'started', 'stopped'])
  assert.equal((await client.get(leases, lease.namespace, lease.name)).spec?.holderIdentity, '')
})

test('a component that another process runs counts as synced', async (t) => {
  const client = await fakeClient()
  t.after(() => client.close())
  const log = (): void => {}
  const [one, two] = [recorded(), recorded()]
  const first = runElected({ ...lease, ...times, client, component: 'worker', start: one.start, log })
  await first.synced
  const second = runElected({ ...lease, ...times, client, component: 'worker', start: two.start, log })
  await second.synced
  assert.deepEqual(two.terms, [])
  await first.stop()
  await two.until(1)
  await second.stop()
})
