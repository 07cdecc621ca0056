/** Processes that the kernel kills for lack of memory, with our API server and a container runtime. Needs root. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { pods } from '../../src/client/kinds.ts'
import { apiControllers } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { sleeper, TestNode } from './support/test-node.ts'

const isRoot = process.getuid?.() === 0
const options = { skip: isRoot ? false : 'needs root', timeout: 120_000 }
const node = isRoot ? await TestNode.start({ controllers: apiControllers }) : (undefined as never)

const resources = { requests: { memory: '16Mi' }, limits: { memory: '16Mi' } }

test('a container that exceeds its memory is OOMKilled with the exit code 137', options, async () => {
  const command = ['sh', '-c', 'exec tail /dev/zero']
  await node.client.create(pods, sleeper('hungry', { command, resources }, { restartPolicy: 'Never' }))
  const { status } = await node.until('hungry', 'fails', (pod) => pod.status?.phase === 'Failed')
  const { reason, exitCode } = status?.containerStatuses?.[0]?.state?.terminated ?? {}
  assert.deepEqual([reason, exitCode], ['OOMKilled', 137])
})

test('a container that restarts after it was OOMKilled has that as its last state', options, async () => {
  const command = ['sh', '-c', 'exec tail /dev/zero']
  await node.client.create(pods, sleeper('again', { command, resources }))
  const { status } = await node.until(
    'again',
    'waits for its next start',
    (pod) => pod.status?.containerStatuses?.[0]?.state?.waiting?.reason === 'CrashLoopBackOff',
  )
  const { reason, exitCode } = status?.containerStatuses?.[0]?.lastState?.terminated ?? {}
  assert.deepEqual([reason, exitCode], ['OOMKilled', 137])
})

test('a lack of memory in the machine is an event of the node', options, async (t) => {
  const victim = `victim-${process.pid}`
  const line = (text: string): void => writeFileSync('/dev/kmsg', `${text}\n`, { flag: 'a' })
  try {
    line(`${victim} invoked oom-killer: gfp_mask=0x140cca(GFP_HIGHUSER_MOVABLE), order=0, oom_score_adj=0`)
  } catch (error) {
    return t.skip(`the log of the kernel is not writable: ${(error as Error).message}`)
  }
  line(`Out of memory: Killed process 4711 (${victim}) total-vm:1460016kB, anon-rss:1414008kB, UID:0 pgtables:12kB`)
  await waitFor('the event', async () =>
    (await node.eventsOf('n1')).includes(`SystemOOM System OOM encountered, victim process: ${victim}, pid: 4711`),
  )
})
