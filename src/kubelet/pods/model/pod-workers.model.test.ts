/** Random lives of pods, with restarts of the kubelet and slow and failing calls, against what must always hold. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Container, PodSpec } from '../../pod-types.ts'
import { NodeModel } from './node-model.fixture.ts'

const seeds = 60
const steps = 60

/** Seeded random numbers from 0 to below 1 (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

const container = (name: string, more: Partial<Container> = {}): Container => ({ name, image: 'image', ...more })

/** Its failure restarts all containers of its pod. */
const gang: Partial<Container> = {
  restartPolicy: 'Never',
  restartPolicyRules: [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [1] } }],
}

function randomSpec(next: () => number): PodSpec {
  const policies = ['Always', 'OnFailure', 'Never']
  const preStop = next() < 0.5 ? { lifecycle: { preStop: { sleep: { seconds: 1 } } } } : {}
  return {
    restartPolicy: policies[Math.floor(next() * policies.length)]!,
    terminationGracePeriodSeconds: Math.floor(next() * 30),
    containers: [container('a', preStop), ...(next() < 0.5 ? [container('b', next() < 0.5 ? gang : {})] : [])],
    initContainers: [
      ...(next() < 0.3 ? [container('sidecar', { restartPolicy: 'Always' })] : []),
      ...(next() < 0.3 ? [container('init', next() < 0.3 ? gang : {})] : []),
    ],
  }
}

function act(model: NodeModel, next: () => number, step: number): void {
  const pick = <T>(all: readonly T[]): T | undefined => all[Math.floor(next() * all.length)]
  const uid = pick([...model.pods.keys()]) ?? ''
  const choice = next()
  if (choice < 0.2) {
    model.hookMs.set(`pod-${step}`, Math.floor(next() * 15_000))
    model.add(`pod-${step}`, randomSpec(next))
  } else if (choice < 0.3) model.delete(uid, Math.floor(next() * 30))
  else if (choice < 0.35) model.forceDelete(uid)
  else if (choice < 0.65) model.runtime.end(pick(model.runtime.running()) ?? '', next() < 0.5 ? 0 : 1)
  else if (choice < 0.75) model.restart()
}

test(`${seeds} random lives of pods`, async () => {
  let started = 0
  for (let seed = 1; seed <= seeds; seed++) {
    const next = randomOf(seed)
    const faults = { next, share: 0.15, maxDelayMs: 3_000 }
    const model = new NodeModel(faults)
    for (let step = 0; step < steps; step++) {
      act(model, next, step)
      await model.time.pass(Math.floor(next() * 20_000))
      assert.deepEqual(model.violations, [], `seed ${seed}, step ${step}`)
    }
    started += [...model.runtime.containers.values()].filter(({ status }) => status.startedAt > 0n).length
    // Without faults everything that was asked for comes to its end.
    faults.share = 0
    for (const uid of [...model.pods.keys()]) model.delete(uid, 10)
    await model.time.pass(300_000)
    assert.deepEqual(model.violations, [], `seed ${seed}, at the end`)
    assert.deepEqual([...model.pods.keys()], [], `seed ${seed}: pods that are not removed`)
    assert.deepEqual(model.runtime.running(), [], `seed ${seed}: containers without a pod`)
  }
  // Otherwise the model would prove nothing.
  assert.ok(started > seeds * 10, `${started} containers have started`)
})
