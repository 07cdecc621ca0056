import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../machinery/object.ts'
import { scaleFaults } from './scale-rules.ts'

const paths = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' }
const faults = (spec: object, status?: object): string[] =>
  scaleFaults(
    { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec, status } as KubeObject,
    paths,
  ).map(({ field, message }) => `${field} ${message}`)

test('numbers of replicas are neither negative nor larger than 32 bits', () => {
  assert.deepEqual(faults({ replicas: 0 }, { replicas: 2147483647 }), [])
  assert.deepEqual(faults({ replicas: -1 }), ['.spec.replicas Invalid value: -1: should be a non-negative integer'])
  assert.deepEqual(faults({ replicas: 1 }, { replicas: 2147483648 }), [
    '.status.replicas Invalid value: 2147483648: should be less than or equal to 2147483647',
  ])
  assert.deepEqual(faults({ replicas: 2n ** 62n }), [
    '.spec.replicas Invalid value: 4611686018427387904: should be less than or equal to 2147483647',
  ])
})

test('missing values and values that are not numbers are ignored', () => {
  assert.deepEqual(faults({}), [])
  assert.deepEqual(faults({ replicas: 'many' }), [])
})
