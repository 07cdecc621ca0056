import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StatusError } from '../../machinery/status-error.ts'
import { negotiate } from './accept.ts'

const meta = 'g=meta.k8s.io;v=v1'

function decided(accept: string): unknown {
  try {
    return negotiate(accept)
  } catch (error) {
    if (error instanceof StatusError) return error.message
    throw error
  }
}

test('a media type is accepted with its parameters, or not at all', () => {
  const json = { format: 'json', pretty: false }
  const none =
    'only the following media types are accepted: application/json, application/yaml, ' +
    'application/vnd.kubernetes.protobuf'
  const cases: Readonly<Record<string, unknown>> = {
    'application/json;stream=watch': json,
    'application/json;stream=other': none,
    'application/json;stream=other, application/yaml': { format: 'yaml', pretty: false },
    'application/json;pretty=1': { format: 'json', pretty: true },
    'application/json;pretty=true': json,
    [`application/json;as=Table;${meta};pretty=1`]: {
      format: 'json',
      pretty: true,
      transform: { as: 'Table', version: 'v1' },
    },
    [`application/json;${meta}`]: none,
    'application/json;v=v1': none,
    'application/json;as=;v=v1;g=meta.k8s.io': none,
    'application/json;v=v1, */*': json,
    'application/json;as=Service;g=;v=v1': none,
    'text/html': '406: Not Acceptable',
  }
  for (const [accept, expected] of Object.entries(cases)) assert.deepEqual(decided(accept), expected, accept)
})
