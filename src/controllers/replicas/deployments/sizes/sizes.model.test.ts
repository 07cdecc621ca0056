import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Deployment, ReplicaSet } from '../../../../client/kinds.ts'
import { limitsOf, newSetSize, oldSetSizes, replicasOf } from './sizes.ts'

/** A set, its pods, and its status from the last reconcile of its controller. */
interface SimulatedSet {
  readonly name: string
  size: number
  /** `observed` is the generation at the last reconcile of its controller. */
  generation: number
  observed: number
  ready: number
  unready: number
  reported: number
}

const newSet = (name: string, size: number): SimulatedSet => ({
  name,
  size,
  generation: 1,
  observed: 1,
  ready: size,
  unready: 0,
  reported: size,
})

function scale(set: SimulatedSet, size: number): void {
  if (size !== set.size) set.generation++
  set.size = size
}

/** Seeded random numbers: mulberry32. */
function randomOf(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return (t ^ (t >>> 14)) >>> 0 ? ((t ^ (t >>> 14)) >>> 0) % below : 0
  }
}

const cached = ({ name, size, reported, generation, observed }: SimulatedSet): ReplicaSet => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { name, generation },
  spec: { replicas: size, selector: {} },
  status: { replicas: size, availableReplicas: reported, observedGeneration: observed },
})

/** The first half of a reconcile of the set: scales its pods, deleting unready ones first. */
function bringToSize(set: SimulatedSet): void {
  set.unready += Math.max(0, set.size - set.ready - set.unready)
  const excess = set.ready + set.unready - set.size
  if (excess > 0) {
    const unready = Math.min(excess, set.unready)
    set.unready -= unready
    set.ready -= excess - unready
  }
}

/** The whole reconcile of the set: scales its pods and updates its status. */
function reconcileSet(set: SimulatedSet): void {
  bringToSize(set)
  set.reported = set.ready
  set.observed = set.generation
}

/** One step of the Deployment: the new set grows, or else the old sets shrink. */
function syncDeployment(deployment: Deployment, sets: readonly SimulatedSet[]): void {
  const current = sets.at(-1)
  if (!current) return
  const old = sets.slice(0, -1)
  const size = newSetSize(deployment, current.size, old.map(cached))
  if (size !== current.size) scale(current, size)
  else {
    const sizes = oldSetSizes(deployment, cached(current), old.map(cached))
    for (const set of old) scale(set, sizes.get(set.name) ?? set.size)
  }
}

test('random steps never exceed maxSurge or maxUnavailable, and all rollouts complete', () => {
  for (let seed = 0; seed < 1000; seed++) {
    const random = randomOf(seed)
    const replicas = 1 + random(12)
    const deployment: Deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'd' },
      spec: {
        replicas,
        selector: {},
        template: {},
        strategy: {
          type: 'RollingUpdate',
          rollingUpdate: {
            maxSurge: random(2) ? random(4) : `${random(101)}%`,
            maxUnavailable: random(2) ? random(4) : `${random(101)}%`,
          },
        },
      },
    }
    const { maxSurge, maxUnavailable } = limitsOf(deployment)
    const sets: SimulatedSet[] = [newSet('set-0', replicas)]
    const check = (): void => {
      const total = sets.reduce((sum, { size }) => sum + size, 0)
      const available = sets.reduce((total, { ready }) => total + ready, 0)
      const story = `seed ${seed}: ${JSON.stringify({ replicas, maxSurge, maxUnavailable, sets })}`
      assert.ok(total <= replicasOf(deployment) + maxSurge, story)
      assert.ok(available >= replicasOf(deployment) - maxUnavailable, story)
    }
    const becomeReady = (set: SimulatedSet): void => {
      if (set.unready === 0) return
      set.unready--
      set.ready++
    }
    const any = (): SimulatedSet => sets[random(sets.length)] ?? sets[0]!
    for (let step = 0; step < 60; step++) {
      const what = random(12)
      if (what === 0) sets.push(newSet(`set-${sets.length}`, 0))
      // Rollback to an earlier template.
      else if (what === 1) sets.push(...sets.splice(random(sets.length), 1))
      else if (what < 5) syncDeployment(deployment, sets)
      else if (what < 7) bringToSize(any())
      else if (what < 9) reconcileSet(any())
      else becomeReady(any())
      check()
    }
    for (let step = 0; step < 200; step++) {
      syncDeployment(deployment, sets)
      for (const set of sets) {
        reconcileSet(set)
        becomeReady(set)
      }
      check()
    }
    for (const set of sets)
      assert.equal(set.reported, set === sets.at(-1) ? replicas : 0, `seed ${seed} does not complete`)
  }
})
