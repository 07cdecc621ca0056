import assert from 'node:assert/strict'
import { test } from 'node:test'
import { idMaps, mapArguments } from './id-maps.ts'

test('the user is root of the namespace, and its ranges are the users from 1, by name or number', () => {
  const ranges = 'root:1:10\njane:100000:65536\n1000:300000:10\njane:x:5\njane:7\njane:5:0\n# jane:1:1\n'
  assert.deepEqual(mapArguments(idMaps(1000, ['jane', '1000'], ranges)), [
    ...['0', '1000', '1'],
    ...['1', '100000', '65536'],
    ...['65537', '300000', '10'],
  ])
})

test('a user without ranges is the only one', () => {
  assert.deepEqual(idMaps(1000, ['jane'], 'joe:100000:65536\n'), [{ inside: 0, outside: 1000, length: 1 }])
})
