import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FeatureGates } from './feature-gates.ts'
import { behaviours, fieldGates, idleGateLines, idleGates } from './gate-effects.ts'
import { knownGates } from './gates.ts'

test('of every gate that can be set it is known what it switches, or why nothing', () => {
  const known = new Set([...Object.keys(behaviours), ...fieldGates, ...idleGates.keys()])
  const settable = [...knownGates].flatMap(([name, { isLocked }]) => (isLocked ? [] : [name]))
  assert.deepEqual(
    settable.filter((name) => !known.has(name)),
    [],
    'gates without an effect',
  )
  assert.deepEqual(
    [...known].filter((name) => !settable.includes(name)),
    [],
    'names of no gate that can be set',
  )
  assert.deepEqual(
    [...idleGates.keys()].filter((name) => name in behaviours || fieldGates.has(name)),
    [],
    'gates that change something and nothing',
  )
})

test('a gate that changes nothing says so where it is set to something new', () => {
  assert.deepEqual(idleGateLines(new FeatureGates({ MemoryQoS: true, OpenAPIEnums: true, WatchList: false })), [
    '--feature-gates=MemoryQoS=true changes nothing here: kubelets obey it',
  ])
})
