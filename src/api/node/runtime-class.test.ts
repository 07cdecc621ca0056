import assert from 'node:assert/strict'
import test from 'node:test'
import { runtimeClasses } from './runtime-class.ts'

test('a RuntimeClass needs valid resource names and unique tolerations', () => {
  const errors = runtimeClasses.validate?.object?.({
    apiVersion: 'node.k8s.io/v1',
    kind: 'RuntimeClass',
    metadata: { name: 'r' },
    handler: 'h',
    overhead: { podFixed: { foo: '-1' } },
    scheduling: {
      tolerations: [
        { operator: 'x' },
        { key: 'a', operator: 'Exists' },
        { key: 'a', operator: 'Exists', tolerationSeconds: 5 },
      ],
    },
  } as never)
  assert.deepEqual(
    errors?.map(({ field, message }) => `${field}: ${message}`),
    [
      'overhead.limits[foo]: Invalid value: "foo": must be a standard resource type or fully qualified',
      'overhead.limits[foo]: Invalid value: "foo": must be a standard resource for containers',
      'overhead.limits[foo]: Invalid value: "-1": must be greater than or equal to 0',
      'scheduling.tolerations[0].operator: Invalid value: "x": operator must be Exists when `key` is empty, ' +
        'which means "match all values and all keys"',
      'scheduling.tolerations[0].operator: Unsupported value: "x": supported values: "Equal", "Exists"',
      'scheduling.tolerations[2].effect: Invalid value: "": effect must be \'NoExecute\' when ' +
        '`tolerationSeconds` is set',
      'scheduling.tolerations[2]: Duplicate value: ' +
        '{"Key":"a","Operator":"Exists","Value":"","Effect":"","TolerationSeconds":5}',
    ],
  )
})
