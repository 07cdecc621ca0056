import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Connection } from '../../client/connection/connection.ts'
import type { Pod } from '../../client/kinds.ts'
import { RestClient } from '../../client/rest/rest-client.ts'
import { sleep } from '../../lib/clock/clock.ts'
import { MovableClock } from '../../lib/clock/movable-clock.ts'
import { KubeletEvents } from '../kubelet-events.ts'
import { NodeAgent } from '../nodes/agent.ts'
import { Alarms } from '../timing/alarms.ts'
import { parseStages } from './stage.ts'
import { podStages } from './stage-runner.ts'

const oneStage = `
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: { name: wait }
spec:
  resourceRef: { apiGroup: v1, kind: Pod }
  selector: {}
  delay: { durationMilliseconds: 60000 }
  next: {}
`

test('the delay of a stage follows a paused clock', async (t) => {
  const clock = new MovableClock()
  clock.move(0, 0)
  const log = (): void => {}
  const now = (): number => clock.now()
  const client = new RestClient(new Connection({ url: 'https://127.0.0.1:0' }))
  const events = new KubeletEvents(client, log, now)
  const stages = podStages({ client, events, stages: parseStages(oneStage).pods, now, log })
  const agent = new NodeAgent({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' } })
  const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', uid: 'p' } }
  const done: number[] = []
  const began = clock.now()
  const alarms = new Alarms<Pod>(handle, clock)
  t.after(() => {
    alarms.stop()
    events.stop()
    clock.stop()
  })
  function handle(of: Pod): void {
    const handled = stages.handle(
      of,
      agent,
      () => [],
      (ms) => alarms.setAfter(of, ms),
    )
    if (handled !== 'waiting') done.push(clock.now() - began)
  }
  handle(pod)
  for (const ms of [59_999, 1]) {
    assert.deepEqual(done, [])
    const moved = sleep(clock, ms)
    clock.move(ms, 0)
    await moved
  }
  assert.deepEqual(done, [60_000])
})
