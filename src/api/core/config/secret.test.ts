import assert from 'node:assert/strict'
import test from 'node:test'
import { secrets } from './secret.ts'

test('invalid JSON in registry credentials is rejected with the messages of encoding/json', () => {
  const wrong = (text: string): (string | undefined)[] | undefined =>
    secrets.validate
      ?.object?.({
        metadata: { name: 's' },
        type: 'kubernetes.io/dockercfg',
        data: { '.dockercfg': Buffer.from(text).toString('base64') },
      } as never)
      .map(({ message }) => message.replace('Invalid value: "<secret contents redacted>": ', ''))
  assert.deepEqual(wrong('{}'), [])
  assert.deepEqual(wrong('x'), ["invalid character 'x' looking for beginning of value"])
  assert.deepEqual(wrong('{'), ['unexpected end of JSON input'])
  assert.deepEqual(wrong('[]'), ['json: cannot unmarshal array into Go value of type map[string]interface {}'])
})
