import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FeatureGates } from './feature-gates.ts'
import { fieldGates, gateEffects } from './gate-effects.fixture.ts'
import { knownGates } from './gates.ts'
import { idleGateLines, idleGates } from './idle-gates.ts'

test('every gate that can be set has a documented effect, or a reason for none', () => {
  const known = new Set([...Object.keys(gateEffects), ...fieldGates, ...idleGates.keys()])
  const settable = [...knownGates].flatMap(([name, { isLocked }]) => (isLocked ? [] : [name]))
  assert.deepEqual(
    settable.filter((name) => !known.has(name)),
    [],
    'gates without an effect',
  )
  assert.deepEqual(
    [...known].filter((name) => !settable.includes(name)),
    [],
    'names that are no settable gates',
  )
  assert.deepEqual(
    [...idleGates.keys()].filter((name) => name in gateEffects || fieldGates.has(name)),
    [],
    'gates with an effect and a reason for none',
  )
})

test('a gate without an effect causes a log line if it is not at its default', () => {
  assert.deepEqual(idleGateLines(new FeatureGates({ MemoryQoS: true, OpenAPIEnums: true, WatchList: false })), [
    '--feature-gates=MemoryQoS=true changes nothing here: it only affects kubelets',
  ])
})
