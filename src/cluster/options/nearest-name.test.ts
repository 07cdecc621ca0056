import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nearestName } from './nearest-name.ts'

test('a misspelled name gets the nearest known one, another name none', () => {
  const known = ['storage', 'port', 'nodes', 'controllers', 'controllersThread']
  const cases: readonly (readonly [string, string | undefined])[] = [
    ['prot', 'port'],
    ['PORT', 'port'],
    ['node', 'nodes'],
    ['controler', 'controllers'],
    ['controllerThread', 'controllersThread'],
    ['unknown', undefined],
    ['', undefined],
  ]
  for (const [name, expected] of cases) assert.equal(nearestName(name, known), expected, name)
})
