/**
 * Pods under our kubelet end in the statuses and events that upstream's kubelet has recorded (`recording.json`). They
 * differ in times, IDs and addresses only. Needs root.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { waitFor } from '../../support/wait-for.ts'
import { inNamespaces } from '../support/in-namespaces.ts'
import { TestNode } from '../support/test-node.ts'
import { normalized, type RecordedEvent } from './normalized.ts'
import { readPodSet } from './pod-set.ts'
import { type RecordedRun, readRecording } from './recording.ts'
import { PodHistory, type PodRun, prepare, runPod } from './run-pods.ts'

const namespace = 'swap'

await inNamespaces(import.meta.filename, () =>
  describe('swap of kubelets', { concurrency: true }, () => {
    const started = start()
    const recording = normalized(readRecording()) as ReturnType<typeof readRecording>

    for (const one of readPodSet(namespace).pods) {
      const { name = '' } = one.pod.metadata
      test(`the pod ${name} has the statuses and events of upstream's kubelet`, async () => {
        const expected = recording[name]
        assert.ok(expected, `${name} is not recorded`)
        const { node, history } = await started
        const run = await runPod(node.client, history, one)
        await compareStatuses(run, expected)
        await compareEvents(run, expected)
      })
    }
  }),
)

async function start() {
  const node = await TestNode.start()
  await prepare(node.client, namespace)
  const history = new PodHistory(node.client, namespace)
  history.start()
  return { node, history }
}

/** Versions between two writes may differ: one of those that satisfy a step is the recorded one. */
async function compareStatuses(run: PodRun, { statuses }: RecordedRun): Promise<void> {
  for (const [step, status] of Object.entries(statuses)) {
    const expected = JSON.stringify(status)
    const isEqual = (): boolean => (run.statuses[step] ?? []).some((one) => JSON.stringify(one) === expected)
    await waitFor(step, isEqual, { deadlineMs: 20_000 }).catch(() =>
      assert.deepEqual(run.statuses[step]?.[0], status, step),
    )
  }
}

async function compareEvents(run: PodRun, { events }: RecordedRun): Promise<void> {
  const expected = texts(events)
  const isComplete = (): boolean => {
    const seen = texts(run.events())
    return expected.every((text) => seen.includes(text))
  }
  await waitFor('the events', isComplete, { deadlineMs: 30_000 }).catch(() => {})
  assert.deepEqual(texts(run.events()), expected)
}

/** Events of one second have no order. */
function texts(events: readonly RecordedEvent[]): readonly string[] {
  return events
    .map(({ type, reason, message, fieldPath = '', component }) =>
      [type, reason, fieldPath, component, message].join(' '),
    )
    .sort()
}
